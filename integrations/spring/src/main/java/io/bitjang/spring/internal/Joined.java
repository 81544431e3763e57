// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.internal;

import java.sql.Connection;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ReflectionUtils;

/**
 * A transaction of the current thread.
 *
 * @param connection calls something with its connection
 * @param rollbackOnly keeps it from being committed
 */
record Joined(Consumer<Consumer<Connection>> connection, Runnable rollbackOnly) {

    /** Calls it on the connection of the transaction; what it throws comes out as it is. */
    @SuppressWarnings("NullAway") // the result is what the work has returned, null only if that may be null
    <T extends @Nullable Object> T on(Function<Connection, T> work) {
        AtomicReference<@Nullable T> result = new AtomicReference<>();
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        connection.accept(given -> {
            try {
                result.set(work.apply(given));
            } catch (RuntimeException | Error e) {
                failure.set(e); // in between, JPA would make it an exception of its own
            }
        });
        @Nullable Throwable thrown = failure.get();
        if (thrown != null) {
            ReflectionUtils.rethrowRuntimeException(thrown);
        }
        return result.get();
    }
}
