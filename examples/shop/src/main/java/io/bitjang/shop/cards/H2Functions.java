// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.cards;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * MySQL's {@code GET_LOCK} and {@code RELEASE_LOCK} for H2, with MySQL's rules: a name belongs to a database session, which may take
 * it again and again, and no other session can give it back. Only for the page that shows what goes wrong with them. Thread-safe.
 */
public final class H2Functions {

    private record Held(long session, int times) {}

    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final Condition FREED = LOCK.newCondition();
    private static final Map<String, Held> HELD = new HashMap<>();

    private H2Functions() {}

    /** Makes them known to the database. */
    public static void create(Statement statement) throws SQLException {
        String type = H2Functions.class.getName();
        statement.execute("CREATE ALIAS IF NOT EXISTS GET_LOCK FOR '" + type + ".getLock'");
        statement.execute("CREATE ALIAS IF NOT EXISTS RELEASE_LOCK FOR '" + type + ".releaseLock'");
    }

    /** 1 if the session has it now, 0 if not in time. */
    public static int getLock(Connection connection, String name, double seconds)
            throws SQLException, InterruptedException {
        long session = session(connection);
        long left = (long) (seconds * TimeUnit.SECONDS.toNanos(1));
        LOCK.lock();
        try {
            Held held = HELD.get(name);
            while (held != null && held.session() != session) {
                if (left <= 0) {
                    return 0;
                }
                left = FREED.awaitNanos(left);
                held = HELD.get(name);
            }
            HELD.put(name, new Held(session, held == null ? 1 : held.times() + 1));
            return 1;
        } finally {
            LOCK.unlock();
        }
    }

    /** 1 if it was given back, 0 if another session has it, null if nobody has. */
    public static @Nullable Integer releaseLock(Connection connection, String name) throws SQLException {
        long session = session(connection);
        LOCK.lock();
        try {
            Held held = HELD.get(name);
            if (held == null || held.session() != session) {
                return held == null ? null : 0;
            }
            if (held.times() > 1) {
                HELD.put(name, new Held(session, held.times() - 1));
            } else {
                HELD.remove(name);
                FREED.signalAll();
            }
            return 1;
        } finally {
            LOCK.unlock();
        }
    }

    private static long session(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT SESSION_ID()")) {
            row.next();
            return row.getLong(1);
        }
    }
}
