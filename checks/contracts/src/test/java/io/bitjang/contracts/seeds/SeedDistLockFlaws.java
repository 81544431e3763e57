// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.seeds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.DistLock;
import io.bitjang.LockName;
import io.bitjang.LockingFailException;
import io.bitjang.Locks;
import io.bitjang.testkit.CountingDataSource;
import io.bitjang.testkit.contract.OnLocks;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLRecoverableException;
import java.time.Clock;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The lock by owner: the document's, and Bitjang's. */
public abstract class SeedDistLockFlaws extends OnLocks {

    private static final Duration FIVE_MINUTES = Duration.ofMinutes(5);

    private final SettableClock clock = new SettableClock();
    private SeedDistLock seed;

    @BeforeEach
    void createSeedTable() {
        String time = database.name().matches("mysql|mariadb") ? "datetime" : "timestamp";
        database.execute("drop table if exists dist_lock");
        database.execute("create table dist_lock (name varchar(100) not null, owner varchar(100), expiry " + time
                + ", primary key (name))");
        AutoCloseable drop = () -> database.execute("drop table dist_lock");
        closing(drop);
        seed = new SeedDistLock(pool, clock);
    }

    // unlock leaves a row without an owner, and the next tryLock inserts it again

    @Test
    void seed_lock_is_never_taken_again_after_its_first_unlock() {
        assertThat(seed.tryLock("batch", "one", FIVE_MINUTES)).isTrue();
        seed.unlock("batch", "one");

        assertThat(seed.tryLock("batch", "one", FIVE_MINUTES)).isFalse();
        clock.advance(Duration.ofDays(365));
        assertThat(seed.tryLock("batch", "two", FIVE_MINUTES))
                .as("not even in a year")
                .isFalse();
    }

    @Test
    void bitjang_lock_is_taken_again_right_after_its_unlock() {
        for (int round = 0; round < 3; round++) {
            assertThat(locks.distLock().tryLock(name("batch"), "one", FIVE_MINUTES))
                    .isTrue();
            locks.distLock().unlock(name("batch"), "one");
            assertThat(other.distLock().tryLock(name("batch"), "two", FIVE_MINUTES))
                    .isTrue();
            other.distLock().unlock(name("batch"), "two");
        }
    }

    // any failure is "someone else has it"

    @Test
    void seed_takes_a_database_that_is_down_for_a_lock_that_is_held() {
        SeedDistLock cutOff = new SeedDistLock(failing(), clock);

        assertThat(cutOff.tryLock("batch", "one", FIVE_MINUTES)).isFalse();
    }

    @Test
    void bitjang_says_that_the_database_is_down() {
        CountingDataSource source = new CountingDataSource(pool);
        Locks cutOff = closing(Locks.create(source));
        fail(source);

        assertThatThrownBy(() -> cutOff.distLock().tryLock(name("batch"), "one", FIVE_MINUTES))
                .isInstanceOf(LockingFailException.class)
                .hasRootCauseMessage("cut off");
    }

    private CountingDataSource failing() {
        CountingDataSource source = new CountingDataSource(pool);
        fail(source);
        return source;
    }

    private static void fail(CountingDataSource source) {
        source.onStatement(sql -> {
            throw new SQLRecoverableException("cut off", "08006");
        });
    }

    // the duration's seconds, without the rest

    @Test
    void seed_lock_of_nine_tenths_of_a_second_is_free_at_once() {
        assertThat(seed.tryLock("batch", "one", Duration.ofMillis(900))).isTrue();
        clock.advance(Duration.ofMillis(1));

        assertThat(seed.tryLock("batch", "two", Duration.ofMillis(900)))
                .as("two hold it")
                .isTrue();
    }

    @Test
    void bitjang_lock_lasts_to_the_microsecond() {
        Duration duration = Duration.ofMillis(1900).plusNanos(1000);
        locks.distLock().tryLock(name("batch"), "one", duration);

        assertThat(locks.admin().find(LockName.of(DistLock.TYPE, name("batch"))))
                .hasValueSatisfying(row -> assertThat(Duration.between(row.acquiredAt(), row.expiresAt()))
                        // two readings of the database's clock within one statement
                        .isBetween(duration.minusMillis(1), duration.plusMillis(500)));
    }

    // a pooled connection goes back with auto-commit off

    @Test
    void seed_gives_a_connection_back_that_does_not_commit_any_more() throws Exception {
        Connection connection = closing(database.dataSource().getConnection());

        new SeedDistLock(new PoolOfOne(connection).source(), clock).tryLock("batch", "one", FIVE_MINUTES);

        assertThat(connection.getAutoCommit()).isFalse();
    }

    @Test
    void bitjang_gives_a_connection_back_as_it_came() throws Exception {
        Connection connection = closing(database.dataSource().getConnection());
        connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        Locks frugal = closing(Locks.builder(new PoolOfOne(connection).source())
                .notifications(false)
                .build());

        frugal.distLock().tryLock(name("batch"), "one", FIVE_MINUTES);
        frugal.distLock().unlock(name("batch"), "one");
        frugal.leaseAll(name("a"), name("b"))
                .tryRun(() -> assertThat(connection.isClosed()).isFalse());

        assertThat(connection.getAutoCommit()).isTrue();
        assertThat(connection.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_READ_COMMITTED);
        assertThat(connection.isReadOnly()).isFalse();
    }

    // who is expired is decided by the application's clock

    @Test
    void seed_node_whose_clock_is_ahead_takes_a_lock_that_is_held() {
        assertThat(seed.tryLock("batch", "one", FIVE_MINUTES)).isTrue();

        SeedDistLock skewed = new SeedDistLock(pool, Clock.offset(clock, Duration.ofMinutes(10)));

        assertThat(skewed.tryLock("batch", "two", FIVE_MINUTES))
                .as("two hold it")
                .isTrue();
    }

    @Test
    void bitjang_node_whose_clock_is_ahead_is_refused() {
        assertThat(locks.distLock().tryLock(name("batch"), "one", FIVE_MINUTES)).isTrue();

        assertThat(SkewedNode.tries(database, DistLock.TYPE, name("batch"))).isEqualTo("it is refused");
    }

    /** A pool as simple as can be: it hands out its one connection again and again, and resets nothing. */
    private record PoolOfOne(Connection connection) {

        DataSource source() {
            return (DataSource) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {DataSource.class}, (self, method, arguments) -> {
                        if (method.getName().equals("getConnection")) {
                            return lent();
                        }
                        throw new UnsupportedOperationException(method.getName());
                    });
        }

        private Connection lent() {
            return (Connection) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {Connection.class}, (self, method, arguments) -> {
                        if (method.getName().equals("close")) {
                            return null;
                        }
                        try {
                            return method.invoke(connection, arguments);
                        } catch (InvocationTargetException e) {
                            throw e.getCause() instanceof SQLException sql ? sql : e.getCause();
                        }
                    });
        }
    }
}
