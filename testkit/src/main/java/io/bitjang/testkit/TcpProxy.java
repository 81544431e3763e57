// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A proxy on a local port between a client and a server, which passes everything on until it is told to misbehave. It doesn't
 * understand TLS. Thread-safe.
 *
 * <pre>{@code
 * try (TcpProxy proxy = TcpProxy.to(database)) {
 *     DataSource source = database.through(proxy.port()).dataSource();
 *     proxy.cutAfterRequest("order-17");
 *     // the statement with the parameter order-17 is committed, and the client never learns
 * }
 * }</pre>
 */
public final class TcpProxy implements AutoCloseable {

    private static final int BACKLOG = 200;

    private final String host;
    private final int serverPort;
    private final int port;
    private final Set<ProxiedConnection> connections = ConcurrentHashMap.newKeySet();
    private final AtomicReference<@Nullable Cut> cut = new AtomicReference<>();
    private final Valve valve = new Valve();
    private volatile boolean repliesAreCut;
    private volatile boolean closed;
    private volatile Thread accepting = Thread.currentThread();
    private volatile ServerSocket listener;

    /** Which request to cut, and who wants to know. */
    record Cut(Predicate<byte[]> request, CompletableFuture<Void> done) {}

    private TcpProxy(String host, int serverPort) {
        this.host = host;
        this.serverPort = serverPort;
        this.listener = listen(0);
        this.port = listener.getLocalPort();
    }

    /** A proxy to that server, with a free port of its own. */
    public static TcpProxy to(String host, int port) {
        return new TcpProxy(host, port);
    }

    /** A proxy to that database; reach it with {@link TestDatabase#through(int)}. */
    public static TcpProxy to(TestDatabase database) {
        return new TcpProxy(database.address(), database.port());
    }

    /** The port to connect to. */
    public int port() {
        return port;
    }

    /** The number of connections that go through now. */
    public int connections() {
        return connections.size();
    }

    /** Drops everything the server sends from now on; requests still reach it. Ends with {@link #resume()}. */
    public void cutReplies() {
        repliesAreCut = true;
    }

    /** As {@link #cutAfterRequest(Predicate)}, for the next request that contains the text. */
    public CompletableFuture<Void> cutAfterRequest(String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        // H2's protocol sends characters of two bytes.
        byte[] utf16 = text.getBytes(StandardCharsets.UTF_16BE);
        return cutAfterRequest(request -> contains(request, utf8) || contains(request, utf16));
    }

    /**
     * Lets the next matching request through, waits until the server has answered, drops the answer and closes the connection on
     * both sides: what was asked for is done, and the client can't know. Once.
     *
     * <p>Match the value of a parameter rather than the SQL text: some drivers send the text ahead, to have it prepared.
     *
     * @param request is given everything the client sent on one connection since the last answer
     * @return completed when the connection was cut
     */
    public CompletableFuture<Void> cutAfterRequest(Predicate<byte[]> request) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        cut.set(new Cut(request, done));
        return done;
    }

    /** Lets nothing pass, neither way, and keeps all connections open: a black hole. Ends with {@link #resume()}. */
    public void stall() {
        valve.shut();
    }

    /** Refuses new connections, as a server that is down does; those that are open go on. Ends with {@link #resume()}. */
    public void refuse() {
        closeListener();
        // until its thread has left accept(), the system still lets one in
        try {
            accepting.join(5_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Closes all connections, on both sides. */
    public void disconnect() {
        connections.forEach(ProxiedConnection::close);
    }

    /** Passes everything on again. What was dropped stays lost; what was stalled arrives. */
    public void resume() {
        cut.set(null);
        repliesAreCut = false;
        if (listener.isClosed() && !closed) {
            listener = listen(port);
        }
        valve.open();
    }

    @Override
    public void close() {
        closed = true;
        closeListener();
        disconnect();
        valve.open();
    }

    Valve valve() {
        return valve;
    }

    boolean repliesAreCut() {
        return repliesAreCut;
    }

    /** The cut, if it is for this request; nobody else gets it then. */
    @Nullable
    Cut claimCut(byte[] request) {
        Cut wanted = cut.get();
        return wanted != null && wanted.request().test(request) && cut.compareAndSet(wanted, null) ? wanted : null;
    }

    void forget(ProxiedConnection connection) {
        connections.remove(connection);
    }

    /** On that port, or on any with 0. */
    private ServerSocket listen(int onPort) {
        try {
            ServerSocket socket = onPort == 0
                    ? Ports.listen(BACKLOG)
                    : new ServerSocket(onPort, BACKLOG, InetAddress.getByName(Launcher.HOST));
            accepting = ProxiedConnection.start("accept", () -> accept(socket));
            return socket;
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot listen on port " + onPort, e);
        }
    }

    private void accept(ServerSocket socket) {
        while (!socket.isClosed()) {
            try {
                Socket client = socket.accept();
                if (socket.isClosed()) {
                    client.close();
                    return;
                }
                try {
                    ProxiedConnection connection = new ProxiedConnection(this, client, new Socket(host, serverPort));
                    connections.add(connection);
                    connection.start();
                } catch (IOException e) {
                    // The server is down: so is this connection.
                    client.close();
                }
            } catch (IOException e) {
                closeListener(socket);
            }
        }
    }

    private void closeListener() {
        closeListener(listener);
    }

    private static void closeListener(ServerSocket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean contains(byte[] all, byte[] part) {
        for (int at = 0; at <= all.length - part.length; at++) {
            if (java.util.Arrays.equals(all, at, at + part.length, part, 0, part.length)) {
                return true;
            }
        }
        return false;
    }
}
