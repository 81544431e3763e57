// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.testkit.LeakCheck;
import io.bitjang.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * What the contracts stand on: a database, a pool of connections to it, and two instances of {@link Locks} that know nothing of each
 * other, as two nodes would. Everything is closed after each test, and nothing may be left behind.
 */
@ExtendWith(LeakCheck.class)
public abstract class OnLocks {

    private final Deque<AutoCloseable> toClose = new ArrayDeque<>();
    private final String suffix = UUID.randomUUID().toString().substring(0, 8);

    /** The database. */
    protected TestDatabase database;

    /** Ten connections to it. */
    protected HikariDataSource pool;

    /** One node. */
    protected Locks locks;

    /** Another node. */
    protected Locks other;

    /** For the contracts of this package and of users. */
    @SuppressWarnings("NullAway.Init")
    protected OnLocks() {}

    @BeforeEach
    final void open(TestDatabase given) {
        database = given;
        pool = closing(given.pool(10));
        locks = closing(builder().owner("one").build());
        other = closing(builder().owner("two").build());
    }

    @AfterEach
    final void close() throws Exception {
        while (!toClose.isEmpty()) {
            toClose.pop().close();
        }
    }

    /** Settings for one more node. */
    protected Locks.Builder builder() {
        return Locks.builder(pool);
    }

    /** Closes it after the test, the last one first. */
    protected <T extends AutoCloseable> T closing(T resource) {
        toClose.push(resource);
        return resource;
    }

    /** A plain name that no other test uses. */
    protected String name(String text) {
        return text + "-" + suffix;
    }

    /** The lock with such a name. */
    protected LockName lockName(String text) {
        return LockName.of(name(text));
    }

    /** A table prefix that no other test uses. */
    protected String prefix() {
        return "t" + suffix + "_";
    }

    /** A connection of the caller's own, in a transaction; closed after the test. */
    protected Connection transaction() throws SQLException {
        Connection connection = closing(database.dataSource().getConnection());
        connection.setAutoCommit(false);
        return connection;
    }
}
