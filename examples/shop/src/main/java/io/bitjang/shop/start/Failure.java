// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.start;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.web.server.PortInUseException;

/** Why the shop can't start, in one line that says what to do about it. */
public final class Failure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    Failure(String line, @Nullable Throwable cause) {
        super(line, cause);
    }

    /** Of whatever was thrown. */
    public static Failure of(Throwable thrown) {
        Throwable root = thrown;
        for (Throwable each = thrown; each != null; each = each.getCause()) {
            if (each instanceof Failure failure) {
                return failure;
            }
            if (each instanceof PortInUseException inUse) {
                return portInUse(inUse.getPort(), each);
            }
            root = each;
        }
        return new Failure("The shop can't start: " + firstLine(root), thrown);
    }

    static Failure portInUse(int port, Throwable cause) {
        return new Failure(
                "Port " + port + " is in use: end what listens there, or choose another one with --port=" + (port + 1),
                cause);
    }

    /** The other lines of a message are for those who like stack traces. */
    static String firstLine(Throwable thrown) {
        String message = thrown.getMessage();
        return message == null || message.isBlank()
                ? thrown.toString()
                : message.strip().lines().findFirst().orElseThrow();
    }

    /** The one line. */
    public String line() {
        return String.valueOf(getMessage());
    }
}
