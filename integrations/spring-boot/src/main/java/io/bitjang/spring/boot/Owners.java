// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

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
import org.jspecify.annotations.Nullable;
import org.springframework.util.StringUtils;

/** In whose name an instance takes its locks: which application, which process, on which host. */
final class Owners {

    private static final int MOST = 255;

    private Owners() {}

    static String of(@Nullable String chosen, @Nullable String application) {
        if (StringUtils.hasText(chosen)) {
            return chosen;
        }
        String process = ProcessHandle.current().pid() + "@" + host(System.getenv());
        if (!StringUtils.hasText(application)) {
            return process;
        }
        int room = Math.max(0, MOST - process.length() - 1);
        return (application.length() > room ? application.substring(0, room) : application) + ":" + process;
    }

    /**
     * The host's own name: from the environment, where containers, Windows and some shells put it, or from the kernel. The resolver
     * is asked last and not for long, because it may take seconds.
     */
    static String host(Map<String, String> environment) {
        return Stream.of("HOSTNAME", "COMPUTERNAME")
                .map(environment::get)
                .filter(StringUtils::hasText)
                .findFirst()
                .or(() -> line(Path.of("/proc/sys/kernel/hostname")))
                .or(() -> line(Path.of("/etc/hostname")))
                .orElseGet(Owners::resolved);
    }

    private static Optional<String> line(Path file) {
        try {
            return Optional.of(Files.readString(file).strip()).filter(StringUtils::hasText);
        } catch (IOException | RuntimeException e) {
            return Optional.empty(); // not on this system, or not readable
        }
    }

    private static String resolved() {
        return CompletableFuture.supplyAsync(() -> {
                    try {
                        return InetAddress.getLocalHost().getHostName();
                    } catch (UnknownHostException e) {
                        return "localhost";
                    }
                })
                .completeOnTimeout("localhost", 1, TimeUnit.SECONDS)
                .join();
    }
}
