// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.bitjang.Lease;
import io.bitjang.LockData;
import io.bitjang.LockException;
import io.bitjang.LockId;
import io.bitjang.LockName;
import io.bitjang.NoLockException;
import io.bitjang.SessionLock;
import io.bitjang.Wait;
import io.bitjang.admin.LockCounts;
import io.bitjang.admin.LockFilter;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What an operator sees, and how a lock is taken away. */
public abstract class AdminContract extends OnOwnTables {

    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Comparator<LockName> BY_CODE_POINTS = Comparator.comparing(
                    (LockName name) -> codePoints(name.type()), Arrays::compare)
            .thenComparing(name -> codePoints(name.id()), Arrays::compare);

    /** For the databases. */
    protected AdminContract() {}

    @Test
    void a_lock_is_found_whatever_its_state() {
        assertThat(locks.admin().find(LockName.of("order", "42"))).isEmpty();

        LockId id = locks.manager().tryLock("order", "42", "kim", MINUTE, "a note");
        assertThat(other.admin().find(id.name())).hasValueSatisfying(held -> {
            assertThat(held.held()).isTrue();
            assertThat(held.owner()).isEqualTo("kim");
            assertThat(held.note()).isEqualTo("a note");
            assertThat(held.fence()).isEqualTo(id.fence());
            assertThat(held.acquiredAt()).isBefore(held.expiresAt());
        });

        locks.manager().releaseLock(id);
        assertThat(other.admin().find(id.name())).hasValueSatisfying(free -> {
            assertThat(free.held()).isFalse();
            assertThat(free.expiresAt()).isNull();
            assertThat(free.remaining()).isZero();
            assertThat(free.fence()).isEqualTo(id.fence());
        });
    }

    @Test
    void rows_are_counted_by_state() {
        assertThat(locks.admin().counts()).isEqualTo(new LockCounts(0, 0, 0));
        oneOfEachState();

        assertThat(other.admin().counts()).isEqualTo(new LockCounts(2, 1, 1));
        assertThat(other.admin().counts().total()).isEqualTo(4);
    }

    @Test
    void a_list_is_filtered_by_state() {
        oneOfEachState();

        assertThat(ids(LockFilter.all())).containsExactly("expired", "free", "held-1", "held-2");
        assertThat(ids(LockFilter.held())).containsExactly("held-1", "held-2");
        assertThat(ids(LockFilter.all().in(LockFilter.State.EXPIRED))).containsExactly("expired");
        assertThat(ids(LockFilter.all().in(LockFilter.State.FREE))).containsExactly("free");
    }

    @Test
    void a_list_is_filtered_by_type_owner_and_part_of_the_id() {
        take("order", "42", "kim");
        take("Order", "42", "Kim");
        take("invoice", "42", "kim");
        take("order", "100%", "lee");
        take("order", "a_b", "lee");
        take("order", "axb", "lee");
        take("order", "back\\slash", "lee");

        assertThat(ids(LockFilter.all().ofType("order"))).containsExactly("100%", "42", "a_b", "axb", "back\\slash");
        assertThat(ids(LockFilter.all().ownedBy("kim"))).containsExactly("42", "42");
        assertThat(ids(LockFilter.all().ofType("order").ownedBy("kim"))).containsExactly("42");
        assertThat(ids(LockFilter.all().idContaining("%"))).containsExactly("100%");
        assertThat(ids(LockFilter.all().idContaining("_"))).containsExactly("a_b");
        assertThat(ids(LockFilter.all().idContaining("\\"))).containsExactly("back\\slash");
        assertThat(ids(LockFilter.all().idContaining("A_"))).isEmpty();
        assertThat(ids(LockFilter.held().ofType("order").idContaining("a").ownedBy("lee")))
                .containsExactly("a_b", "axb", "back\\slash");
        assertThat(ids(LockFilter.all().ofType("nothing"))).isEmpty();
    }

    @Test
    void pages_follow_each_other_without_a_gap_or_a_repetition() {
        List<LockName> names = new ArrayList<>();
        for (int i = 0; i < 250; i++) {
            String[] types = {"Z", "a", "order", "Order", "é", "日本"};
            names.add(LockName.of(types[i % types.length], (i % 7 == 0 ? "Ä" : i % 5 == 0 ? "b " : "B") + i));
        }
        assertThat(locks.leaseAll(names).tryAcquire()).isPresent();

        List<LockName> listed = new ArrayList<>();
        LockFilter filter = LockFilter.all().limit(37);
        List<LockData> page = other.admin().list(filter);
        while (!page.isEmpty()) {
            page.forEach(data -> listed.add(data.name()));
            // what changes behind the reader does not move the pages
            locks.manager().tryLock("0", "before-" + listed.size());
            page = other.admin().list(filter.after(page.get(page.size() - 1).name()));
        }

        assertThat(listed)
                .hasSize(250)
                .containsExactlyElementsOf(names.stream().sorted(BY_CODE_POINTS).toList());
    }

    @Test
    void the_order_is_that_of_the_code_points_on_every_database() {
        List<String> texts = List.of("\u0001", " x", "0", "A", "B", "a", "b", "é", "日", "\uE000", "Ａ", "\uFFFD", "😀");
        texts.forEach(text -> take("order", text, "kim"));

        assertThat(ids(LockFilter.all())).containsExactlyElementsOf(texts);
        assertThat(ids(LockFilter.all().after(LockName.of("order", "\uFFFD")))).containsExactly("😀");
    }

    @Test
    void a_lock_is_taken_away_from_a_holder_of_this_node_who_is_told_at_once() {
        Lease lease = locks.lease("job").tryAcquire().orElseThrow();

        assertThat(locks.admin().forceRelease(lease.name(), lease.fence(), "ops-kim", "the host is stuck"))
                .isTrue();

        assertThat(lease.state()).isEqualTo(Lease.State.LOST);
        assertThat(lease.lostBecause())
                .hasValueSatisfying(reason -> assertThat(reason).contains("ops-kim", "the host is stuck"));
        assertThat(other.lease("job").tryAcquire()).isPresent();
    }

    @Test
    void a_lock_is_taken_away_from_a_holder_of_another_node_who_is_told_at_its_next_renewal() throws Exception {
        CompletableFuture<Lease> told = new CompletableFuture<>();
        Lease lease =
                other.lease("job").lasting(Duration.ofSeconds(9)).tryAcquire().orElseThrow();
        lease.onLost(told::complete);

        assertThat(locks.admin().forceRelease(lease.name(), lease.fence(), "ops-kim", "the host is stuck"))
                .isTrue();

        assertThat(told.get(30, TimeUnit.SECONDS)).isSameAs(lease);
        assertThat(lease.state()).isEqualTo(Lease.State.LOST);
        assertThat(lease.lostBecause())
                .hasValueSatisfying(reason -> assertThat(reason).contains("ops-kim", "the host is stuck"));
    }

    @Test
    void whoever_waits_gets_what_was_taken_away() throws Exception {
        Lease lease = locks.lease("job").lasting(MINUTE).tryAcquire().orElseThrow();
        CompletableFuture<Lease> waiting =
                other.lease("job").acquireAsync(Wait.upTo(MINUTE)).toCompletableFuture();

        locks.admin().forceRelease(lease.name(), lease.fence(), "ops", "why");

        assertThat(waiting.get(1, TimeUnit.MINUTES).fence()).isGreaterThan(lease.fence());
    }

    @Test
    void a_group_loses_all_when_one_of_its_locks_is_taken_away() {
        Lease group = locks.leaseAll("a", "b").tryAcquire().orElseThrow();

        locks.admin().forceRelease(LockName.of("b"), group.fence(), "ops", "only b");

        assertThat(group.state()).isEqualTo(Lease.State.LOST);
        assertThat(group.lostBecause())
                .hasValueSatisfying(reason -> assertThat(reason).contains("ops", "only b"));
    }

    @Test
    void the_guard_of_the_former_holder_refuses_before_it_was_told() throws Exception {
        Lease lease = other.lease("job").lasting(MINUTE).tryAcquire().orElseThrow();
        LockId id = other.manager().tryLock("order", "42", "kim", MINUTE);
        locks.admin().forceRelease(lease.name(), lease.fence(), "ops", "why");
        locks.admin().forceRelease(id.name(), id.fence(), "ops", "why");
        Connection connection = transaction();

        assertThatExceptionOfType(NoLockException.class).isThrownBy(() -> lease.guard(connection));
        assertThatExceptionOfType(NoLockException.class)
                .isThrownBy(() -> other.manager().checkLock(connection, id))
                .satisfies(lost -> assertThat(lost.takenAwayBy()).contains("ops: why"));
        assertThatExceptionOfType(NoLockException.class)
                .isThrownBy(() -> other.manager().checkLock(id))
                .withMessageContaining("taken away by ops: why")
                .satisfies(lost -> assertThat(lost.takenAwayBy()).contains("ops: why"));
        assertThat(lease.state()).isEqualTo(Lease.State.LOST);
    }

    @Test
    void nothing_is_taken_away_with_another_fence() {
        LockId id = locks.manager().tryLock("order", "42", "kim", MINUTE);
        LockData before = locks.manager().checkLock(id);

        assertThat(other.admin().forceRelease(id.name(), id.fence() - 1, "ops", "why"))
                .isFalse();
        assertThat(other.admin().forceRelease(id.name(), id.fence() + 1, "ops", "why"))
                .isFalse();

        assertThat(locks.manager().checkLock(id))
                .usingRecursiveComparison()
                .ignoringFields("remaining")
                .isEqualTo(before);
    }

    @Test
    void what_is_free_or_unknown_is_not_taken_away() {
        LockId id = locks.manager().tryLock("order", "42", "kim", MINUTE);
        locks.manager().releaseLock(id);

        assertThat(locks.admin().forceRelease(id.name(), id.fence(), "ops", "why"))
                .isFalse();
        assertThat(locks.admin().forceRelease(LockName.of("nobody"), 1, "ops", "why"))
                .isFalse();
        assertThatExceptionOfType(NoLockException.class)
                .isThrownBy(() -> locks.manager().checkLock(id))
                .withMessageContaining("released");
    }

    @Test
    void what_a_process_holds_and_waits_for_is_known_there() throws Exception {
        assertThat(locks.admin().here()).isEmpty();
        try (Crew crew = new Crew();
                Lease lease = locks.lease("job").acquire(Wait.none());
                SessionLock.Hold session = locks.session("user:7").tryAcquire().orElseThrow()) {
            Crew.Job<?> leaseWaiter = crew.start(
                    () -> locks.lease("job").acquire(Wait.upTo(MINUTE)).fence());
            Crew.Job<?> sessionWaiter = crew.start(() -> locks.session("user:7").acquire(Wait.upTo(MINUTE)));
            leaseWaiter.untilItWaits();
            sessionWaiter.untilItWaits();

            assertThat(locks.admin().here())
                    .extracting(lock -> lock.name() + " " + lock.kind() + " " + lock.held() + " " + lock.waiters())
                    .containsExactly("job LEASE true 1", "user:7 SESSION true 1");
            assertThat(locks.admin().here())
                    .allSatisfy(lock -> assertThat(lock.heldFor()).isPositive().isLessThan(MINUTE));
            assertThat(other.admin().here()).isEmpty();
            for (Crew.Job<?> waiter : List.of(leaseWaiter, sessionWaiter)) {
                waiter.interrupt();
                assertThatExceptionOfType(LockException.class).isThrownBy(waiter::result);
            }
        }
        Soon.holds("nothing is left", () -> locks.admin().here().isEmpty());
    }

    @Test
    void a_lock_that_another_process_waits_for_is_seen_to_be_wanted() throws Exception {
        try (Crew crew = new Crew();
                Lease lease = locks.lease("job").acquire(Wait.none())) {
            assertThat(locks.admin().find(lease.name()).orElseThrow().wanted()).isFalse();
            crew.start(() -> other.lease("job").acquire(Wait.upTo(MINUTE)).fence())
                    .untilItWaits();

            Soon.holds(
                    "it is wanted",
                    () -> locks.admin().find(lease.name()).orElseThrow().wanted());
            assertThat(other.admin().here())
                    .extracting(lock -> lock.name() + " " + lock.held() + " " + lock.waiters() + " " + lock.heldFor())
                    .containsExactly("job false 1 PT0S");
        }
    }

    private void oneOfEachState() {
        take("state", "held-1", "kim");
        take("state", "held-2", "kim");
        locks.manager().releaseLock(take("state", "free", "kim"));
        locks.manager().tryLock("state", "expired", "kim", Duration.ofMillis(1));
        Soon.holds(
                "it lapsed",
                () -> locks.admin()
                        .find(LockName.of("state", "expired"))
                        .orElseThrow()
                        .isExpired());
    }

    private LockId take(String type, String id, String owner) {
        return locks.manager().tryLock(type, id, owner, MINUTE);
    }

    private List<String> ids(LockFilter filter) {
        return other.admin().list(filter).stream().map(LockData::id).toList();
    }

    private static int[] codePoints(String text) {
        return text.codePoints().toArray();
    }
}
