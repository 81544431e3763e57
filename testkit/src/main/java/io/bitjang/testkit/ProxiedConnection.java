// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** One connection through a {@link TcpProxy}: two sockets and a thread for each direction. */
final class ProxiedConnection {

    private static final int LONGEST_REQUEST = 1 << 20;

    private final TcpProxy proxy;
    private final Socket client;
    private final Socket server;
    private final AtomicReference<TcpProxy.@Nullable Cut> cut = new AtomicReference<>();

    /** Guards {@code request}: what the client sent since the server last answered. */
    private final ReentrantLock lock = new ReentrantLock();

    private final ByteArrayOutputStream request = new ByteArrayOutputStream();

    ProxiedConnection(TcpProxy proxy, Socket client, Socket server) throws IOException {
        this.proxy = proxy;
        this.client = client;
        this.server = server;
        client.setTcpNoDelay(true);
        server.setTcpNoDelay(true);
    }

    void start() {
        start("requests", () -> pump(client, server, this::onRequest));
        start("replies", () -> pump(server, client, this::onReply));
    }

    static Thread start(String name, Runnable work) {
        Thread thread = new Thread(work, "testkit-proxy-" + name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** Sees each piece before it is passed on, and says whether it is. */
    @FunctionalInterface
    private interface Inspector {
        boolean passes(byte[] buffer, int length);
    }

    private void pump(Socket from, Socket to, Inspector inspector) {
        byte[] buffer = new byte[16 * 1024];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                proxy.valve().pass();
                if (inspector.passes(buffer, length)) {
                    out.write(buffer, 0, length);
                }
            }
        } catch (IOException e) {
            // Either side went away, which ends the connection like the end of its stream.
        } finally {
            proxy.valve().pass();
            close();
        }
    }

    private boolean onRequest(byte[] buffer, int length) {
        lock.lock();
        try {
            if (request.size() < LONGEST_REQUEST) {
                request.write(buffer, 0, length);
            }
            if (cut.get() == null) {
                cut.set(proxy.claimCut(request.toByteArray()));
            }
        } finally {
            lock.unlock();
        }
        return true;
    }

    private boolean onReply(byte[] buffer, int length) {
        lock.lock();
        try {
            request.reset();
        } finally {
            lock.unlock();
        }
        TcpProxy.Cut wanted = cut.get();
        if (wanted != null) {
            close();
            wanted.done().complete(null);
            return false;
        }
        return !proxy.repliesAreCut();
    }

    void close() {
        proxy.forget(this);
        closeQuietly(client);
        closeQuietly(server);
    }

    private static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // It is as gone as it can be.
        }
    }
}
