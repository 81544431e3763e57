// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * The local ports of this JVM's connections, by which a server's list of sessions can be narrowed to ours: a server knows the port of
 * each client, whatever the driver told it, and the kernel knows the process of each port. Only connections to that server count: two
 * processes may have the same port, each for a connection to another server.
 */
final class OwnPorts {

    private static final int LOCAL_ADDRESS = 1;
    private static final int REMOTE_ADDRESS = 2;
    private static final int INODE = 9;
    private static final String TIME_WAIT = " 06 ";

    private OwnPorts() {}

    /** Those of connections to this port; empty when the operating system doesn't tell. */
    static Optional<Set<Integer>> find(int serverPort) {
        try {
            Set<String> inodes = sockets();
            Set<Integer> ports = new HashSet<>();
            for (String table : new String[] {"tcp", "tcp6"}) {
                Path path = Path.of("/proc/self/net", table);
                if (Files.exists(path)) {
                    // thousands of closed connections may linger there
                    Files.readAllLines(path).stream()
                            .skip(1)
                            .filter(line -> !line.contains(TIME_WAIT))
                            .map(line -> line.strip().split("\\s+"))
                            .filter(fields -> inodes.contains(fields[INODE]))
                            .filter(fields -> port(fields[REMOTE_ADDRESS]) == serverPort)
                            .forEach(fields -> ports.add(port(fields[LOCAL_ADDRESS])));
                }
            }
            return Optional.of(ports);
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static int port(String address) {
        return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1), 16);
    }

    private static Set<String> sockets() throws IOException {
        Set<String> inodes = new HashSet<>();
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path descriptor : descriptors) {
                String target = target(descriptor);
                if (target.startsWith("socket:[")) {
                    inodes.add(target.substring("socket:[".length(), target.length() - 1));
                }
            }
        }
        return inodes;
    }

    /** A descriptor may be closed while we look. */
    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException e) {
            return "";
        }
    }
}
