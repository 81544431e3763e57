// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.AlreadyLockedException;
import io.bitjang.Lease;
import io.bitjang.LockData;
import io.bitjang.LockId;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.spi.LockEvent.Kind;
import io.bitjang.testkit.CountingDataSource;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * What each operation costs: statements, which are round trips, and connections. No setting of a connection is changed on the way,
 * an operation has at most one connection, and a lock that is held has none.
 */
public abstract class StatementCountContract extends OnObservedLocks {

    private interface Operation {
        void run() throws Exception;
    }

    private boolean is(String product) {
        return database.name().equals(product);
    }

    private void cost(String what, int statements, Operation operation) throws Exception {
        assertThat(spent(operation)).as("%s: %s", what, seen.statements()).isEqualTo(statements);
    }

    /** How many statements it took; looks at connections and settings, too. */
    private int spent(Operation operation) throws Exception {
        seen.reset();
        operation.run();
        assertThat(seen.maxOpen()).as("connections at a time").isLessThanOrEqualTo(1);
        assertThat(seen.open()).as("connections afterwards").isZero();
        assertThat(seen.settingsChanged()).isEmpty();
        assertThat(seen.commits()).isZero();
        assertThat(seen.rollbacks()).isZero();
        return seen.statements().size();
    }

    @AfterEach
    void each_statement_was_a_round_trip_of_its_own() {
        assertThat(seen.roundTrips()).isEqualTo(seen.statements().size());
    }

    @Test
    void an_uncontended_acquire_is_one_statement() throws Exception {
        // MySQL: a row that this node knows nothing of is read before it is inserted or taken
        cost("unknown name", is("mysql") ? 2 : 1, () -> node.lease(name("a")).tryAcquire());
        other.lease(name("b")).acquire(Wait.none()).close();
        cost(
                "freed by another node",
                is("mysql") ? 2 : 1,
                () -> node.lease(name("b")).tryAcquire());
        node.lease(name("c")).acquire(Wait.none()).close();
        cost("freed by this node", 1, () -> node.lease(name("c")).tryAcquire());
    }

    @Test
    void a_wait_for_a_free_lock_is_one_statement() throws Exception {
        node.lease(name("job")).acquire(Wait.none()).close();
        cost("acquire that may wait", 1, () -> node.lease(name("job")).acquire(Wait.forever()));
    }

    @Test
    void a_release_is_one_statement() throws Exception {
        Lease lease = node.lease(name("job")).acquire(Wait.none());
        cost("release", 1, lease::close);
        cost("second close", 0, lease::close);
        LockId lockId = node.manager().tryLock("order", name("42"));
        cost("release of an offline lock", 1, () -> node.manager().releaseLock(lockId));
    }

    @Test
    void a_renewal_on_demand_is_one_statement() throws Exception {
        Lease lease = node.lease(name("job")).acquire(Wait.none());
        cost("renew", 1, lease::renew);
        cost("ensure what is there", 0, () -> lease.ensure(Duration.ofSeconds(1)));
    }

    @Test
    void what_a_lease_knows_by_itself_costs_nothing() throws Exception {
        Lease lease = node.lease(name("job")).acquire(Wait.none());
        cost("state", 0, () -> {
            lease.state();
            lease.remaining();
            lease.fence();
            lease.isHeld();
            lease.lostBecause();
        });
    }

    @Test
    void an_offline_lock_costs_one_statement_at_each_step() throws Exception {
        LockId first = node.manager().tryLock("order", name("42"));
        node.manager().releaseLock(first);
        List<LockId> id = new ArrayList<>();
        cost("tryLock", 1, () -> id.add(node.manager().tryLock("order", name("42"))));
        cost("check", 1, () -> node.manager().checkLock(id.get(0)));
        cost("extend", 1, () -> node.manager().extendLockExpiration(id.get(0), Duration.ofMinutes(1)));
        cost("renew", 1, () -> node.manager().renew(id.get(0), Duration.ofMinutes(1)));
        cost("leave", 1, () -> node.manager().leave(id.get(0), Duration.ofSeconds(30)));
        LockData seen = node.manager().checkLock(id.get(0));
        cost("take-over", 1, () -> node.manager().takeOver(seen, "lee", Duration.ofMinutes(1), null, "why"));
    }

    @Test
    void a_lock_by_owner_costs_one_statement_at_each_step() throws Exception {
        node.distLock().tryLock(name("batch"), "kim", Duration.ofMinutes(1));
        node.distLock().unlock(name("batch"), "kim");
        cost("tryLock", 1, () -> node.distLock().tryLock(name("batch"), "kim", Duration.ofMinutes(1)));
        cost("unlock", 1, () -> node.distLock().unlock(name("batch"), "kim"));
    }

    @Test
    void a_failed_attempt_is_one_statement() throws Exception {
        other.lease(name("job")).acquire(Wait.none());
        cost(
                "refused",
                1,
                () -> assertThat(node.lease(name("job")).tryAcquire()).isEmpty());
        cost(
                "refused with an exception",
                1,
                () -> assertThatThrownBy(() -> node.lease(name("job")).acquire(Wait.none()))
                        .isInstanceOf(AlreadyLockedException.class));
        other.manager().tryLock("order", name("42"), "kim");
        cost(
                "refused, with the holder's details",
                1,
                () -> assertThatThrownBy(() -> node.manager().tryLock("order", name("42")))
                        .isInstanceOf(AlreadyLockedException.class)
                        .hasMessageContaining("kim"));
    }

    @Test
    void a_failed_attempt_at_what_this_node_freed_last_is_at_most_two_statements() throws Exception {
        node.lease(name("job")).acquire(Wait.none()).close();
        other.lease(name("job")).acquire(Wait.none());

        // the belief that it is still free was wrong
        cost(
                "refused",
                2,
                () -> assertThat(node.lease(name("job")).tryAcquire()).isEmpty());
        cost(
                "refused again",
                1,
                () -> assertThat(node.lease(name("job")).tryAcquire()).isEmpty());
    }

    @Test
    void a_take_over_of_an_expired_lock_is_as_cheap_as_a_free_one() throws Exception {
        LockId lapsed = other.manager().tryLock("order", name("42"), "kim", Duration.ofMillis(50));
        Crew.eventually(
                "expired", () -> other.admin().find(lapsed.name()).stream().noneMatch(io.bitjang.LockData::held));

        cost("take-over", is("mysql") ? 2 : 1, () -> node.lease(lapsed.name()).acquire(Wait.none()));
    }

    @Test
    void a_hand_over_is_one_statement() throws Exception {
        Lease held = node.lease(name("job")).acquire(Wait.none());
        var waiter = crew.start(() -> node.lease(name("job")).acquire(Wait.forever()));
        waiter.untilItWaits();
        // the one who waits looks at the table once a second; that is not part of the hand-over
        Crew.eventually("quiet", () -> {
            int before = seen.roundTrips();
            Thread.sleep(50);
            return seen.roundTrips() == before;
        });

        cost("hand-over", 1, () -> {
            held.close();
            waiter.result();
        });
        assertThat(count(Kind.HANDED_OVER)).isEqualTo(1);
    }

    @Test
    void several_known_locks_are_taken_and_freed_in_one_statement() throws Exception {
        String[] names = {name("a"), name("b"), name("c")};
        node.leaseAll(names).acquire(Wait.none()).close();
        List<Lease> group = new ArrayList<>();

        cost("group", 1, () -> group.add(node.leaseAll(names).acquire(Wait.none())));
        cost("release of a group", 1, () -> group.get(0).close());
    }

    /** A hundred alone and nine groups of a hundred: taken in no time, so that they are due together. */
    @Test
    void a_thousand_locks_are_renewed_in_one_statement() throws Exception {
        Duration lasting = Duration.ofSeconds(9);
        int locks = 1000;
        List<Lease> held = new ArrayList<>();
        for (int group = 0; group < 9; group++) {
            String[] names = new String[100];
            for (int i = 0; i < names.length; i++) {
                names[i] = name("many" + group + "-" + i);
            }
            held.add(node.leaseAll(names).lasting(lasting).acquire(Wait.none()));
        }
        for (int i = 0; i < 100; i++) {
            held.add(node.lease(name("alone" + i)).lasting(lasting).acquire(Wait.none()));
        }

        int statements = 0;
        long renewed = 0;
        // On a busy machine they are taken too slowly to be due together at first, and a round is still being told when
        // the next
        // one is looked at.
        for (int round = 0; round < 8 && (statements != 1 || renewed != locks); round++) {
            events.clear();
            seen.reset();
            Crew.eventually("renewed", () -> count(Kind.RENEWED) >= locks);
            renewed = count(Kind.RENEWED);
            statements = seen.statements().size();
        }

        assertThat(statements).as("%s", seen.statements()).isEqualTo(1);
        assertThat(renewed).isEqualTo(locks);
        assertThat(seen.maxOpen()).as("connections at a time").isOne();
        assertThat(held).allMatch(Lease::isHeld);
    }

    @Test
    void a_guard_is_one_statement_on_the_callers_connection_and_none_elsewhere() throws Exception {
        Lease lease = node.lease(name("job")).acquire(Wait.none());
        LockId lockId = node.manager().tryLock("order", name("42"));
        CountingDataSource callers = new CountingDataSource(database.dataSource());
        try (Connection mine = callers.getConnection()) {
            mine.setAutoCommit(false);
            callers.reset();
            cost("guard", 0, () -> lease.guard(mine));
            assertThat(callers.statements()).hasSize(1);
            cost("check in the transaction", 0, () -> node.manager().checkLock(mine, lockId));
            assertThat(callers.statements()).hasSize(2);
            cost("release in the transaction", 0, () -> node.manager().releaseLock(mine, lockId));
            assertThat(callers.statements()).hasSizeBetween(3, 4);
            assertThat(callers.settingsChanged()).isEmpty();
            assertThat(callers.commits() + callers.rollbacks()).isZero();
            mine.commit();
        }
    }

    @Test
    void a_pool_without_auto_commit_is_served_with_one_commit_and_no_change() throws Exception {
        HikariConfig manual = new HikariConfig();
        manual.setDataSource(database.dataSource());
        manual.setMaximumPoolSize(2);
        manual.setMinimumIdle(0);
        manual.setAutoCommit(false);
        CountingDataSource counted = new CountingDataSource(closing(new HikariDataSource(manual)));
        Locks mine = closing(Locks.builder(counted).owner("mine").build());
        mine.lease(name("job")).acquire(Wait.none()).close();
        counted.reset();

        Lease lease = mine.lease(name("job")).acquire(Wait.none());

        assertThat(counted.statements()).hasSize(1);
        assertThat(counted.commits()).isEqualTo(1);
        assertThat(counted.settingsChanged()).isEmpty();
        lease.close();
        assertThat(other.lease(name("job")).tryAcquire()).isPresent();
    }
}
