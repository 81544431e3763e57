// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What each operation costs on H2: statements, which are round trips, and connections. */
class CostTest extends OnH2 {

    private void cost(String what, int statements, Runnable operation) {
        seen.reset();
        operation.run();
        assertThat(seen.statements()).as(what).hasSize(statements);
        assertThat(seen.mostOpen()).as("connections at a time").isLessThanOrEqualTo(1);
        assertThat(seen.open()).as("connections afterwards").isZero();
        assertThat(seen.settings()).as("settings").isEmpty();
    }

    @Test
    void lease_is_one_statement_at_each_step() {
        List<Lease> got = new ArrayList<>();
        cost("unknown name", 1, () -> got.add(node.lease("a").acquire(Wait.none())));
        cost("renew", 1, got.get(0)::renew);
        cost("release", 1, got.get(0)::close);
        cost("second close", 0, got.get(0)::close);
        cost("freed by this node", 1, () -> got.add(node.lease("a").tryAcquire().orElseThrow()));
        cost("state", 0, () -> {
            got.get(1).state();
            got.get(1).remaining();
            got.get(1).fence();
            got.get(1).ensure(Duration.ofSeconds(1));
        });
        got.get(1).close();
        cost("a wait for a free lock", 1, () -> got.add(node.lease("a").acquire(PATIENT)));
        got.get(2).close();
        cost("as a lock", 2, () -> {
            var lock = node.lease("a").asLock();
            lock.lock();
            lock.unlock();
        });
    }

    @Test
    void refused_attempt_is_one_statement_and_two_where_a_belief_was_wrong() {
        node.lease("a").acquire(Wait.none()).close();
        other.lease("a").acquire(Wait.none());

        cost(
                "believed to be free",
                2,
                () -> assertThat(node.lease("a").tryAcquire()).isEmpty());
        cost("refused", 1, () -> assertThat(node.lease("a").tryAcquire()).isEmpty());
        cost("by owner", 1, () -> node.distLock().tryLock("a", "kim", LONG));
    }

    @Test
    void offline_lock_is_one_statement_at_each_step() {
        List<LockId> id = new ArrayList<>();
        cost("tryLock", 1, () -> id.add(node.manager().tryLock("order", "42", "kim", LONG)));
        cost("check", 1, () -> node.manager().checkLock(id.get(0)));
        cost("extend", 1, () -> node.manager().extendLockExpiration(id.get(0), LONG));
        cost("renew", 1, () -> node.manager().renew(id.get(0), LONG));
        cost("leave", 1, () -> node.manager().leave(id.get(0), LONG));
        LockData data = node.admin().find(id.get(0).name()).orElseThrow();
        cost(
                "take-over",
                1,
                () -> id.add(
                        node.manager().takeOver(data, "lee", LONG, null, "why").orElseThrow()));
        cost("release", 1, () -> node.manager().releaseLock(id.get(1)));
    }

    @Test
    void lock_by_owner_is_one_statement_at_each_step() {
        cost("tryLock", 1, () -> node.distLock().tryLock("batch", "kim", LONG));
        cost("again", 1, () -> node.distLock().tryLock("batch", "kim", LONG));
        cost("unlock", 1, () -> node.distLock().unlock("batch", "kim"));
    }

    @Test
    void several_known_locks_are_taken_and_freed_in_one_statement_each() {
        node.leaseAll("a", "b", "c").acquire(Wait.none()).close();
        List<Lease> group = new ArrayList<>();

        cost("group", 1, () -> group.add(node.leaseAll("a", "b", "c").acquire(Wait.none())));
        cost("release", 1, group.get(0)::close);
    }

    @Test
    void expired_lock_costs_as_much_as_a_free_one() throws Exception {
        other.lease("a").acquire(Wait.none());
        expire(LockName.of("a"));

        cost("take-over", 1, () -> node.lease("a").acquire(Wait.none()));
    }

    @Test
    void held_lock_and_an_idle_instance_cost_nothing() {
        node.lease("a").acquire(Wait.none());
        node.manager().tryLock("order", "42", "kim", LONG);

        cost("nothing", 0, () -> {});
        assertThat(seen.mostOpen()).isZero();
    }

    @Test
    void session_lock_keeps_one_connection_while_it_is_held() {
        SessionLock.Hold hold = node.session("a").acquire(Wait.none());
        assertThat(seen.open()).isEqualTo(1);

        hold.close();

        assertThat(seen.open()).isZero();
    }
}
