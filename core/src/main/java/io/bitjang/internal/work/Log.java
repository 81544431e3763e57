// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.work;

import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/**
 * Writes to the log {@code io.bitjang}. Whatever a logger throws goes no further: a line that could not be written must not keep a
 * lock taken, or those who wait from being served. Thread-safe.
 */
public final class Log {

    private static final System.Logger LOG = System.getLogger("io.bitjang");

    private Log() {}

    /** Warns of something that an operator should know. */
    public static void warn(String what) {
        write(Level.WARNING, what, null);
    }

    /** Warns of a failure that an operator should know. */
    public static void warn(String what, Throwable failure) {
        write(Level.WARNING, what, failure);
    }

    /** Notes what was to be expected. */
    public static void debug(String what) {
        write(Level.DEBUG, what, null);
    }

    /** Notes a failure that was to be expected. */
    public static void debug(String what, Throwable failure) {
        write(Level.DEBUG, what, failure);
    }

    private static void write(Level level, String what, @Nullable Throwable failure) {
        try {
            LOG.log(level, what, failure);
        } catch (Throwable e) {
            // there is nobody left to tell
        }
    }
}
