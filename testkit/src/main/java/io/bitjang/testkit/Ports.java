// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Free ports to listen on, below those that the system gives to connections. While a server is restarted, or a proxy refuses, a
 * connection could otherwise take its port, even one that was meant for the server and then meets itself.
 */
final class Ports {

    private static final int LOWEST = 15_000;
    private static final int HIGHEST = 32_000;
    private static final int TRIES = 100;

    private Ports() {}

    /** One that is free at this moment. */
    static int free() throws IOException {
        try (ServerSocket socket = listen(1)) {
            return socket.getLocalPort();
        }
    }

    /** Whether a server could listen there. */
    static boolean isFree(int port) throws IOException {
        try (ServerSocket ignored = new ServerSocket(port, 1, InetAddress.getByName(Launcher.HOST))) {
            return true;
        } catch (BindException e) {
            return false;
        }
    }

    static ServerSocket listen(int backlog) throws IOException {
        InetAddress host = InetAddress.getByName(Launcher.HOST);
        for (int attempt = 1; attempt <= TRIES; attempt++) {
            try {
                return new ServerSocket(ThreadLocalRandom.current().nextInt(LOWEST, HIGHEST), backlog, host);
            } catch (BindException e) {
                // Someone has it.
            }
        }
        return new ServerSocket(0, backlog, host);
    }
}
