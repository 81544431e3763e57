// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.work;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** What this host is called, for people who look for the holder of a lock. */
public final class HostName {

    private static final String UNKNOWN = "localhost";

    private HostName() {}

    /**
     * Returns the host's name from the environment, where containers, Windows and some shells put it, or from the kernel. The
     * resolver is asked last, and only for a second: it may take many.
     */
    public static String of(Map<String, String> environment) {
        return Stream.of("HOSTNAME", "COMPUTERNAME")
                .map(variable -> environment.getOrDefault(variable, ""))
                .filter(name -> !name.isBlank())
                .findFirst()
                .or(() -> line(Path.of("/proc/sys/kernel/hostname")))
                .or(() -> line(Path.of("/etc/hostname")))
                .orElseGet(HostName::resolved);
    }

    private static Optional<String> line(Path file) {
        try {
            return Optional.of(Files.readString(file).strip()).filter(name -> !name.isEmpty());
        } catch (IOException | RuntimeException e) {
            return Optional.empty(); // not on this system, or not readable
        }
    }

    private static String resolved() {
        return CompletableFuture.supplyAsync(() -> {
                    try {
                        return InetAddress.getLocalHost().getHostName();
                    } catch (UnknownHostException e) {
                        return UNKNOWN;
                    }
                })
                .completeOnTimeout(UNKNOWN, 1, TimeUnit.SECONDS)
                .join();
    }
}
