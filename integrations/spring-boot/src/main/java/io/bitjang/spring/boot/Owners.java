// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

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
        String process = ProcessHandle.current().pid() + "@" + host();
        if (!StringUtils.hasText(application)) {
            return process;
        }
        int room = Math.max(0, MOST - process.length() - 1);
        return (application.length() > room ? application.substring(0, room) : application) + ":" + process;
    }

    /** The name that containers and shells give, because asking the resolver may take seconds. */
    private static String host() {
        return System.getenv().getOrDefault("HOSTNAME", "localhost");
    }
}
