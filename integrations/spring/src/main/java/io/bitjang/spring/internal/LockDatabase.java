// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.internal;

import io.bitjang.AlreadyLockedException;
import io.bitjang.LockId;
import io.bitjang.LockManager;
import io.bitjang.LockingFailException;
import io.bitjang.Locks;
import io.bitjang.NoLockException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.transaction.TransactionSystemException;

/**
 * Whether connections lead to the database of the locks. A wrapper may hide what it wraps, and two addresses may name one server, so
 * that is tried: a lock that was just taken, under a secret that nobody else knows, is found in its own database and in no other.
 * Thread-safe.
 */
public final class LockDatabase {

    private static final String TYPE = "bitjang";
    private static final String NAME = "found-by-";
    private static final int MOST_AT_A_TIME = 20;
    private static final Duration LONG_ENOUGH = Duration.ofMinutes(1);
    private static final int SECONDS = 5;
    private static final String UNCLEAR =
            "Whether a transaction is one of the database of the locks could not be found out";

    /** Connections, deadlocks, a lack of resources, cancelled statements, failures of the system. */
    private static final List<String> PASSING = List.of("08", "40", "53", "55", "57", "58", "HYT", "XX");

    private final Supplier<Locks> locks;

    /** That of these locks. */
    public LockDatabase(Supplier<Locks> locks) {
        this.locks = locks;
    }

    /** Whether connections of the data source lead to it; takes one of them for a moment. */
    boolean isReachedBy(DataSource dataSource) {
        DataSource plain = WrappedDataSources.withoutSpringsProxies(dataSource);
        return isReachedBy(work -> {
            try (Connection connection = plain.getConnection()) {
                boolean autoCommit = connection.getAutoCommit();
                connection.setAutoCommit(false);
                try {
                    work.accept(connection);
                } finally {
                    connection.rollback();
                    connection.setAutoCommit(autoCommit);
                }
            } catch (SQLException e) {
                throw new CannotGetJdbcConnectionException(UNCLEAR, e);
            }
        });
    }

    /** Whether these connections, in a transaction that is rolled back afterwards, lead to it. */
    boolean isReachedBy(Consumer<Consumer<Connection>> connections) {
        LockManager manager = locks.get().manager();
        LockId known = taken(manager);
        try {
            AtomicReference<@Nullable Boolean> found = new AtomicReference<>();
            AtomicReference<@Nullable RuntimeException> failure = new AtomicReference<>();
            connections.accept(connection -> {
                try {
                    found.set(isSeen(connection, manager, known));
                } catch (RuntimeException e) {
                    failure.set(e);
                }
            });
            @Nullable RuntimeException unclear = failure.get();
            if (unclear != null) {
                throw new TransactionSystemException(UNCLEAR, unclear);
            }
            return Objects.requireNonNull(found.get(), "no connection was given");
        } finally {
            manager.releaseLock(known);
        }
    }

    /** The first that is free. The same few names again and again, because each leaves a row. */
    private static LockId taken(LockManager manager) {
        for (int i = 1; i <= MOST_AT_A_TIME; i++) {
            try {
                return manager.tryLock(TYPE, NAME + i, TYPE, LONG_ENOUGH);
            } catch (AlreadyLockedException e) {
                continue; // someone else asks, too
            }
        }
        return manager.tryLock(TYPE, NAME + UUID.randomUUID(), TYPE, LONG_ENOUGH);
    }

    /** The address of a database, without the settings of the connection. */
    static String address(DataSource dataSource) {
        try (Connection connection =
                WrappedDataSources.withoutSpringsProxies(dataSource).getConnection()) {
            return String.valueOf(connection.getMetaData().getURL()).replaceFirst("[?;].*", "");
        } catch (SQLException e) {
            throw new CannotGetJdbcConnectionException(UNCLEAR, e);
        }
    }

    private static boolean isSeen(Connection connection, LockManager manager, LockId known) {
        try {
            manager.checkLock(connection, known);
            return true;
        } catch (NoLockException e) {
            return false; // it has tables of locks, but others
        } catch (LockingFailException e) {
            if (isNotUnderstood(connection, e)) {
                return false;
            }
            throw e;
        }
    }

    /** It lives, and has no such table, or speaks another language. What may be different the next time tells nothing. */
    private static boolean isNotUnderstood(Connection connection, LockingFailException e) {
        if (!(e.getCause() instanceof SQLException refused)
                || refused instanceof SQLTransientException
                || refused instanceof SQLRecoverableException) {
            return false;
        }
        @Nullable String state = refused.getSQLState();
        if (state == null || PASSING.stream().anyMatch(state::startsWith)) {
            return false;
        }
        try {
            connection.rollback();
            return connection.isValid(SECONDS);
        } catch (SQLException gone) {
            e.addSuppressed(gone);
            return false;
        }
    }
}
