// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.bitjang.Lease;
import io.bitjang.LockData;
import io.bitjang.LockId;
import io.bitjang.LockName;
import io.bitjang.LockingFailException;
import io.bitjang.Locks;
import io.bitjang.NoLockException;
import io.bitjang.admin.AuditEntry;
import io.bitjang.spi.LockEvent;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A lock goes from one person to another at once, and only from the one who was seen to have it. */
public abstract class TakeOverContract extends OnAccounts {

    private static final Duration MINUTE = Duration.ofMinutes(1);

    /** For the databases. */
    protected TakeOverContract() {}

    private LockData seen(LockName name) {
        return other.admin().find(name).orElseThrow();
    }

    private Optional<LockId> takeOver(LockData seen) {
        return other.manager().takeOver(seen, "lee", MINUTE, "my turn", "kim went home");
    }

    /** On a machine that stands still for two seconds one is told to try again. */
    private Optional<LockId> takeOverPatiently(LockData seen) {
        while (true) {
            try {
                return takeOver(seen);
            } catch (LockingFailException e) {
                assertThat(e).hasMessageContaining("a transaction that guards it");
            }
        }
    }

    @Test
    void a_lock_that_is_held_goes_to_another_with_a_new_id_and_a_larger_fence() {
        LockId kims = locks.manager().tryLock(account.type(), account.id(), "kim", Duration.ofHours(1), "mine");

        LockId lees = takeOver(seen(account)).orElseThrow();

        assertThat(lees.fence()).isGreaterThan(kims.fence());
        LockData data = locks.manager().checkLock(lees);
        assertThat(data.owner()).isEqualTo("lee");
        assertThat(data.note()).isEqualTo("my turn");
        assertThat(data.remaining()).isBetween(Duration.ofSeconds(30), MINUTE);
        assertThatExceptionOfType(NoLockException.class)
                .isThrownBy(() -> locks.manager().checkLock(kims))
                .withMessageContaining("lee");
        assertThatExceptionOfType(NoLockException.class)
                .isThrownBy(() -> locks.manager().releaseLock(kims));
        other.manager().releaseLock(lees);
    }

    @Test
    void nothing_is_taken_over_when_the_fence_moved_on_or_the_lock_is_free() {
        LockId first = locks.manager().tryLock(account.type(), account.id(), "kim", MINUTE);
        LockData old = seen(account);
        locks.manager().releaseLock(first);
        assertThat(takeOver(old)).isEmpty();

        LockId second = locks.manager().tryLock(account.type(), account.id(), "kim", MINUTE);
        assertThat(takeOver(old)).isEmpty();

        assertThat(locks.manager().checkLock(second).owner()).isEqualTo("kim");
    }

    @Test
    void a_lock_that_lapsed_is_taken_over_too() throws Exception {
        LockId kims = locks.manager().tryLock(account.type(), account.id(), "kim", Duration.ofMillis(1));
        awaitLapse(account);

        assertThat(takeOver(seen(account)))
                .hasValueSatisfying(id -> assertThat(id.fence()).isGreaterThan(kims.fence()));
    }

    @Test
    void of_many_who_saw_the_same_holder_exactly_one_gets_it() throws Exception {
        locks.manager().tryLock(account.type(), account.id(), "kim", MINUTE);
        LockData seen = seen(account);
        int many = 8;
        CyclicBarrier together = new CyclicBarrier(many);
        ExecutorService threads = Executors.newFixedThreadPool(many);
        try {
            List<Future<Optional<LockId>>> outcomes = new ArrayList<>();
            for (int i = 0; i < many; i++) {
                Locks node = i % 2 == 0 ? locks : other;
                outcomes.add(threads.submit(() -> {
                    together.await();
                    return node.manager().takeOver(seen, "lee", MINUTE, null, "together");
                }));
            }
            int granted = 0;
            for (Future<Optional<LockId>> outcome : outcomes) {
                granted += outcome.get(30, TimeUnit.SECONDS).isPresent() ? 1 : 0;
            }
            assertThat(granted).isOne();
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void an_open_guard_is_waited_for_and_its_commit_comes_first() throws Exception {
        LockId kims = locks.manager().tryLock(account.type(), account.id(), "kim", MINUTE);
        LockData seen = seen(account);
        Connection guarded = transaction();
        locks.manager().checkLock(guarded, kims);
        write(guarded, 7);
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            Future<Optional<LockId>> lees = thread.submit(() -> takeOverPatiently(seen));
            TimeUnit.MILLISECONDS.sleep(A_WHILE.toMillis());
            assertThat(lees.isDone())
                    .as("taken over while a guarded transaction is open")
                    .isFalse();

            guarded.commit();

            assertThat(lees.get(30, TimeUnit.SECONDS)).isPresent();
            assertThat(balance()).isEqualTo(7);
        } finally {
            thread.shutdownNow();
        }
    }

    @Test
    void an_open_guard_is_not_waited_for_for_ever() throws Exception {
        LockId kims = locks.manager().tryLock(account.type(), account.id(), "kim", MINUTE);
        Connection guarded = transaction();
        locks.manager().checkLock(guarded, kims);

        assertThatExceptionOfType(LockingFailException.class)
                .isThrownBy(() -> takeOver(seen(account)))
                .withMessageContaining("a transaction that guards it");

        guarded.commit();
        assertThat(locks.manager().checkLock(kims).owner()).isEqualTo("kim");
    }

    @Test
    void the_guard_of_the_former_holder_refuses() throws Exception {
        LockId kims = locks.manager().tryLock(account.type(), account.id(), "kim", MINUTE);
        assertThat(takeOver(seen(account))).isPresent();
        Connection late = transaction();
        write(late, 9);

        assertThatExceptionOfType(NoLockException.class)
                .isThrownBy(() -> locks.manager().checkLock(late, kims));

        late.commit();
        assertThat(balance()).isZero();
    }

    @Test
    void a_lease_of_this_node_that_is_taken_over_is_told_at_once() {
        Lease lease = other.lease(account).lasting(MINUTE).tryAcquire().orElseThrow();

        assertThat(takeOver(seen(account))).isPresent();

        assertThat(lease.state()).isEqualTo(Lease.State.LOST);
        assertThat(lease.lostBecause())
                .hasValueSatisfying(reason -> assertThat(reason).contains("lee", "kim went home"));
    }

    @Test
    void it_is_written_down_and_told_to_listeners() {
        List<LockEvent> events = new CopyOnWriteArrayList<>();
        Locks audited = closing(builder().audit(true).listener(events::add).build());
        locks.manager().tryLock(account.type(), account.id(), "kim", MINUTE);

        LockId lees = audited.manager()
                .takeOver(seen(account), "lee", MINUTE, null, "kim went home")
                .orElseThrow();

        assertThat(audited.admin().audit(1000))
                .filteredOn(entry -> entry.name().equals(account))
                .singleElement()
                .satisfies(entry -> {
                    assertThat(entry.kind()).isEqualTo(AuditEntry.Kind.TAKEN_OVER);
                    assertThat(entry.from()).isEqualTo("kim");
                    assertThat(entry.by()).isEqualTo("lee");
                    assertThat(entry.fence()).isEqualTo(lees.fence());
                    assertThat(entry.reason()).isEqualTo("kim went home");
                });
        assertThat(events).singleElement().satisfies(event -> {
            assertThat(event.kind()).isEqualTo(LockEvent.Kind.TAKEN_OVER);
            assertThat(event.owner()).isEqualTo("lee");
            assertThat(event.detail()).isEqualTo("kim went home");
        });
    }

    @Test
    void a_reason_is_needed() {
        locks.manager().tryLock(account.type(), account.id(), "kim", MINUTE);
        LockData seen = seen(account);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> other.manager().takeOver(seen, "lee", MINUTE, null, " "))
                .withMessageContaining("reason");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> other.manager().takeOver(seen, "lee", Duration.ZERO, null, "why"))
                .withMessageContaining("duration");
        assertThat(seen(account).owner()).isEqualTo("kim");
    }
}
