// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.seeds;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.AlreadyLockedException;
import io.bitjang.LockData;
import io.bitjang.LockId;
import io.bitjang.Locks;
import io.bitjang.NoLockException;
import io.bitjang.testkit.CountingDataSource;
import io.bitjang.testkit.contract.OnAccounts;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The lock manager for edit screens: the document's, and Bitjang's. */
public abstract class SeedLockManagerFlaws extends OnAccounts {

    private static final Duration PAST_THE_TIMEOUT = Duration.ofMinutes(6);

    private final SettableClock clock = new SettableClock();
    private SeedLockManager seed;
    private SeedLockManager otherSeed;

    @BeforeEach
    void createSeedTable() {
        String time = database.name().matches("mysql|mariadb") ? "datetime" : "timestamp";
        database.execute("drop table if exists locks");
        database.execute("create table locks (type varchar(100), id varchar(100), lockid varchar(100), expiration_time "
                + time + ", primary key (type, id))");
        database.execute("create unique index locks_idx on locks (lockid)");
        AutoCloseable drop = () -> database.execute("drop table locks");
        closing(drop);
        seed = new SeedLockManager(pool, clock);
        otherSeed = new SeedLockManager(pool, clock);
    }

    // checked in a transaction of its own, the lock can expire before the commit

    @Test
    void seed_check_does_not_last_until_the_commit_and_an_update_is_lost() throws Exception {
        String id = seed.tryLock("account", "1");
        Connection tx = transaction();
        int seen = balance(tx);
        seed.checkLock(id);
        clock.advance(PAST_THE_TIMEOUT);
        otherSeed.tryLock("account", "1");
        write(balance() + 100);

        write(tx, seen + 1);
        tx.commit();

        assertThat(balance()).as("the 100 are lost").isEqualTo(1);
    }

    @Test
    void bitjang_check_lasts_until_the_commit_and_no_update_is_lost() throws Exception {
        LockId id = locks.manager().tryLock(account.type(), account.id(), "kim", Duration.ofMillis(100));
        Connection tx = transaction();
        int seen = balance(tx);
        locks.manager().checkLock(tx, id);
        awaitLapse(account);
        assertThatThrownBy(() -> other.manager().tryLock(account.type(), account.id()))
                .isInstanceOf(AlreadyLockedException.class);

        write(tx, seen + 1);
        tx.commit();

        other.manager().tryLock(account.type(), account.id());
        write(balance() + 100);
        assertThat(balance()).isEqualTo(101);
    }

    // released in a transaction of its own, the lock is free before the edit is committed

    @Test
    void seed_release_comes_before_the_commit_and_the_next_editor_reads_old_data() throws Exception {
        String id = seed.tryLock("account", "1");
        Connection tx = transaction();
        write(tx, 1);
        seed.releaseLock(id);

        otherSeed.tryLock("account", "1");
        assertThat(balance()).as("what the next editor reads").isZero();
        tx.commit();
        assertThat(balance()).as("what it should have read").isEqualTo(1);
    }

    @Test
    void bitjang_release_comes_with_the_commit_and_the_next_editor_reads_new_data() throws Exception {
        LockId id = locks.manager().tryLock(account.type(), account.id());
        Connection tx = transaction();
        write(tx, 1);
        locks.manager().releaseLock(tx, id);

        assertThatThrownBy(() -> other.manager().tryLock(account.type(), account.id()))
                .isInstanceOf(AlreadyLockedException.class);
        tx.commit();
        other.manager().tryLock(account.type(), account.id());
        assertThat(balance()).isEqualTo(1);
    }

    // an expired row is deleted by name, whoever has it by then

    @Test
    void seed_slow_node_deletes_the_lock_that_another_has_just_taken() throws Exception {
        seed.tryLock("account", "1");
        clock.advance(PAST_THE_TIMEOUT);
        Paused slow = new Paused("delete from locks where type.*");
        SeedLockManager slowSeed = new SeedLockManager(slow.source, clock);
        CompletableFuture<String> late = slow.start(() -> slowSeed.tryLock("account", "1"));
        String taken = otherSeed.tryLock("account", "1");
        otherSeed.checkLock(taken);

        slow.resume();

        assertThat(late.get(PATIENCE.toSeconds(), SECONDS)).as("both got it").isNotEqualTo(taken);
        assertThatThrownBy(() -> otherSeed.checkLock(taken)).isInstanceOf(SeedLockManager.NoLock.class);
    }

    @Test
    void bitjang_slow_node_is_refused_when_another_has_just_taken_the_lock() throws Exception {
        locks.manager().tryLock(account.type(), account.id(), "kim", Duration.ofMillis(50));
        awaitLapse(account);
        Paused slow = new Paused("(?is).*\\b(insert|update|merge)\\b.*");
        CompletableFuture<LockId> late = slow.start(() -> slow.locks.manager().tryLock(account.type(), account.id()));
        LockId taken = other.manager().tryLock(account.type(), account.id());

        slow.resume();

        assertThatThrownBy(() -> late.get(PATIENCE.toSeconds(), SECONDS))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(AlreadyLockedException.class);
        assertThatCode(() -> other.manager().checkLock(taken)).doesNotThrowAnyException();
    }

    // an extension goes by name too

    @Test
    void seed_extension_prolongs_the_lock_of_another() throws Exception {
        String id = seed.tryLock("account", "1");
        Paused slow = new Paused("update locks.*");
        SeedLockManager slowSeed = new SeedLockManager(slow.source, clock);
        CompletableFuture<Void> late = slow.start(() -> {
            slowSeed.extendLockExpiration(id, Duration.ofDays(1));
            return null;
        });
        clock.advance(PAST_THE_TIMEOUT);
        otherSeed.tryLock("account", "1");
        Timestamp before = expiryOfSeedLock();

        slow.resume();
        late.get(PATIENCE.toSeconds(), SECONDS);

        assertThat(expiryOfSeedLock()).isAfter(before);
    }

    @Test
    void bitjang_extension_leaves_the_lock_of_another_alone() throws Exception {
        LockId id = locks.manager().tryLock(account.type(), account.id(), "kim", Duration.ofMillis(500));
        Paused slow = new Paused("(?is).*\\b(insert|update|merge)\\b.*");
        CompletableFuture<Object> late =
                slow.start(() -> slow.locks.manager().extendLockExpiration(id, Duration.ofDays(1)));
        awaitLapse(account);
        other.manager().tryLock(account.type(), account.id());
        LockData before = locks.admin().find(account).orElseThrow();

        slow.resume();

        assertThatThrownBy(() -> late.get(PATIENCE.toSeconds(), SECONDS)).hasCauseInstanceOf(NoLockException.class);
        assertThat(locks.admin().find(account))
                .hasValueSatisfying(now -> assertThat(now.expiresAt()).isEqualTo(before.expiresAt()));
    }

    // who is expired is decided by the application's clock

    @Test
    void seed_node_whose_clock_is_ahead_takes_a_lock_that_is_held() {
        String id = seed.tryLock("account", "1");

        SeedLockManager skewed = new SeedLockManager(pool, Clock.offset(clock, Duration.ofMinutes(10)));

        assertThat(skewed.tryLock("account", "1")).as("two hold it").isNotEqualTo(id);
    }

    @Test
    void bitjang_node_whose_clock_is_ahead_is_refused() {
        LockId id = locks.manager().tryLock(account.type(), account.id());

        assertThat(SkewedNode.tries(database, account.type(), account.id())).isEqualTo("it is refused");

        assertThat(locks.manager().checkLock(id).held()).isTrue();
    }

    // select, then insert: the race is not "someone has it" but a failure

    @Test
    void seed_race_for_a_free_lock_ends_in_a_duplicate_key() throws Exception {
        Paused slow = new Paused("insert into locks.*");
        SeedLockManager slowSeed = new SeedLockManager(slow.source, clock);
        CompletableFuture<String> late = slow.start(() -> slowSeed.tryLock("account", "1"));
        otherSeed.tryLock("account", "1");

        slow.resume();

        assertThatThrownBy(() -> late.get(PATIENCE.toSeconds(), SECONDS))
                .hasCauseInstanceOf(SeedLockManager.LockingFail.class);
    }

    @Test
    void bitjang_race_for_a_free_lock_ends_in_someone_has_it() throws Exception {
        Paused slow = new Paused("(?is).*\\b(insert|update|merge)\\b.*");
        CompletableFuture<LockId> late = slow.start(() -> slow.locks.manager().tryLock(account.type(), account.id()));
        other.manager().tryLock(account.type(), account.id());

        slow.resume();

        assertThatThrownBy(() -> late.get(PATIENCE.toSeconds(), SECONDS))
                .hasCauseInstanceOf(AlreadyLockedException.class)
                .cause()
                .satisfies(refusal -> assertThat(((AlreadyLockedException) refusal).holder())
                        .hasValueSatisfying(holder -> assertThat(holder.owner()).isEqualTo("two")));
    }

    @Test
    void seed_takes_an_expired_lock_in_three_round_trips_and_a_commit() {
        seed.tryLock("account", "1");
        clock.advance(PAST_THE_TIMEOUT);
        CountingDataSource counting = new CountingDataSource(pool);

        new SeedLockManager(counting, clock).tryLock("account", "1");

        assertThat(counting.roundTrips()).isEqualTo(3);
        assertThat(counting.commits()).isOne();
    }

    /** MySQL has no statement that never waits for a locked row and answers: there a read comes first. */
    @Test
    void bitjang_takes_an_expired_lock_in_one_round_trip() throws Exception {
        CountingDataSource counting = new CountingDataSource(pool);
        Locks counted = closing(Locks.create(counting));
        locks.manager().tryLock(account.type(), account.id(), "kim", Duration.ofMillis(50));
        awaitLapse(account);
        counting.reset();

        counted.manager().tryLock(account.type(), account.id());

        assertThat(counting.roundTrips()).isEqualTo(database.name().equals("mysql") ? 2 : 1);
        assertThat(counting.commits()).isZero();
        assertThat(counting.settingsChanged()).isEmpty();
    }

    private Timestamp expiryOfSeedLock() throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("select expiration_time from locks where id = '1'")) {
            rows.next();
            return rows.getTimestamp(1);
        }
    }

    /** A node that stops before the first statement of a kind, until it may go on. */
    private final class Paused {

        final CountingDataSource source = new CountingDataSource(pool);
        final Locks locks = closing(Locks.create(source));
        private final CountDownLatch stands = new CountDownLatch(1);
        private final CountDownLatch goOn = new CountDownLatch(1);

        Paused(String statement) {
            source.onStatement(sql -> {
                if (sql.matches(statement)) {
                    stands.countDown();
                    awaitLatch(goOn);
                }
            });
        }

        <T> CompletableFuture<T> start(Supplier<T> call) {
            CompletableFuture<T> result = CompletableFuture.supplyAsync(call);
            awaitLatch(stands);
            return result;
        }

        void resume() {
            goOn.countDown();
        }

        private static void awaitLatch(CountDownLatch latch) {
            try {
                assertThat(latch.await(PATIENCE.toSeconds(), SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
