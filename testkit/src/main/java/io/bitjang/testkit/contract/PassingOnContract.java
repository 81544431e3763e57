// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Lease;
import io.bitjang.LockData;
import io.bitjang.LockName;
import io.bitjang.Wait;
import io.bitjang.spi.LockEvent;
import io.bitjang.spi.LockEvent.Kind;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Leases that nobody gets to see pass from thread to thread of one process without a statement, and every promise holds. */
public abstract class PassingOnContract extends OnObservedLocks {

    private static final Wait PATIENT = Wait.upTo(Duration.ofSeconds(60));

    /** For the databases. */
    protected PassingOnContract() {}

    /** So many threads stand in line behind a holder; each runs the task when it is its turn. */
    private List<Crew.Job<Boolean>> inLine(int threads, Runnable task) throws Exception {
        List<Crew.Job<Boolean>> jobs = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            jobs.add(crew.start(() -> {
                        node.lease(name("a")).run(PATIENT, task::run);
                        return true;
                    })
                    .untilItWaits());
        }
        return jobs;
    }

    private List<Long> fences() {
        return events.stream()
                .filter(event -> event.kind() == Kind.HANDED_OVER || event.kind() == Kind.ACQUIRED)
                .map(LockEvent::fence)
                .toList();
    }

    private static void await(List<Crew.Job<Boolean>> jobs) throws Exception {
        for (Crew.Job<Boolean> job : jobs) {
            assertThat(job.result()).isTrue();
        }
    }

    @Test
    void each_holder_has_a_fence_of_its_own_and_the_next_process_a_larger_one() throws Exception {
        Lease first = node.lease(name("a")).acquire(Wait.none());
        List<Crew.Job<Boolean>> jobs = inLine(30, () -> {});
        first.close();
        await(jobs);

        List<Long> fences = fences();
        assertThat(fences).hasSize(31).doesNotHaveDuplicates().isSorted();
        try (Lease next = other.lease(name("a")).acquire(PATIENT)) {
            assertThat(next.fence()).isGreaterThan(fences.get(30));
        }
    }

    @Test
    void a_process_that_vanishes_in_between_leaves_no_fence_to_be_used_again() throws Exception {
        Duration brief = LIVELY;
        CountDownLatch vanished = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        // the server's clock was set back by an hour: it is no help
        other.lease(name("a")).run(PATIENT, () -> {});
        database.execute("UPDATE bitjang_locks SET fence = fence + 3600000000 WHERE id = '" + name("a") + "'");
        Lease first = node.lease(name("a")).lasting(brief).acquire(Wait.none());
        for (int i = 0; i < 12; i++) {
            boolean last = i == 11;
            crew.start(() -> {
                        node.lease(name("a")).lasting(brief).run(PATIENT, () -> {
                            if (last) {
                                down();
                                vanished.countDown();
                                go.await(20, TimeUnit.SECONDS);
                            }
                        });
                        return true;
                    })
                    .untilItWaits();
        }

        first.close();
        assertThat(vanished.await(20, TimeUnit.SECONDS)).isTrue();
        past(first);
        try (Lease next = other.lease(name("a")).acquire(PATIENT)) {
            assertThat(fences()).hasSize(13);
            assertThat(next.fence()).isGreaterThan(fences().get(12));
        }
        go.countDown();
    }

    /** The last of a line, who goes on holding it. */
    private LockName heldByTheLastOf(int threads, CountDownLatch end) throws Exception {
        AtomicInteger turn = new AtomicInteger();
        CountDownLatch held = new CountDownLatch(1);
        Lease first = node.lease(name("a")).acquire(Wait.none());
        inLine(threads, () -> {
            if (turn.incrementAndGet() == threads) {
                held.countDown();
                try {
                    end.await(30, TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
        });
        first.close();
        assertThat(held.await(30, TimeUnit.SECONDS)).isTrue();
        return first.name();
    }

    @Test
    void an_operator_sees_who_has_it_and_takes_it_from_that_one_only() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        LockName lock = heldByTheLastOf(6, end);
        List<Long> fences = fences();
        long present = fences.get(fences.size() - 1);

        assertThat(other.admin().forceRelease(lock, fences.get(1), "operator", "too late"))
                .isFalse();
        assertThat(other.admin().forceRelease(lock, fences.get(4), "operator", "too late"))
                .isFalse();
        Crew.eventually(
                "the table has the fence of the one who has it",
                () -> other.admin().find(lock).map(LockData::fence).equals(Optional.of(present)));
        assertThat(count(Kind.LOST)).isZero();

        assertThat(other.admin().forceRelease(lock, present, "operator", "it hangs"))
                .isTrue();
        assertThat(other.lease(lock).tryRun(() -> {})).isTrue();
        end.countDown();
    }

    @Test
    void an_operator_takes_it_from_a_process_that_does_not_answer() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        Gate gate = closing(new Gate());
        seen.onStatement(sql -> {
            // what tells the table which of the fences is in use
            if (sql.contains("reserved = 0") && !sql.contains("owner =")) {
                gate.pass();
            }
        });
        LockName lock = heldByTheLastOf(6, end);
        List<Long> fences = fences();

        assertThat(other.admin().forceRelease(lock, fences.get(fences.size() - 1), "operator", "it hangs"))
                .isTrue();
        assertThat(other.lease(lock).tryRun(() -> {})).isTrue();
        up();
        gate.close();
        end.countDown();
    }

    @Test
    void one_who_gets_to_see_the_lease_has_it_by_a_statement_and_can_guard() throws Exception {
        Lease first = node.lease(name("a")).acquire(Wait.none());
        List<Crew.Job<Boolean>> jobs = new ArrayList<>(inLine(5, () -> {}));
        jobs.add(crew.start(() -> {
                    try (Lease lease = node.lease(name("a")).acquire(PATIENT);
                            Connection connection = pool.getConnection()) {
                        connection.setAutoCommit(false);
                        lease.guard(connection);
                        connection.commit();
                        connection.setAutoCommit(true);
                        return other.admin()
                                .find(lease.name())
                                .map(LockData::fence)
                                .equals(Optional.of(lease.fence()));
                    }
                })
                .untilItWaits());
        jobs.addAll(inLine(5, () -> {}));

        first.close();

        await(jobs);
    }

    @Test
    void one_who_asks_for_another_duration_gets_that() throws Exception {
        Duration longer = Duration.ofMinutes(5);
        Lease first = node.lease(name("a")).acquire(Wait.none());
        List<Crew.Job<Boolean>> jobs = new ArrayList<>(inLine(3, () -> {}));
        jobs.add(crew.start(() -> node.lease(name("a"))
                        .lasting(longer)
                        .call(
                                PATIENT,
                                () -> other.admin()
                                                .find(first.name())
                                                .map(LockData::remaining)
                                                .orElseThrow()
                                                .compareTo(Duration.ofMinutes(4))
                                        > 0))
                .untilItWaits());
        jobs.addAll(inLine(3, () -> {}));

        first.close();

        await(jobs);
    }
}
