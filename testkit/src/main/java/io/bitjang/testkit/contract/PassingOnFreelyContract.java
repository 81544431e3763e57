// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Lease;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.spi.LockEvent.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Leases that nobody gets to see pass on inside a process without a statement, and still leave another process its share. */
public abstract class PassingOnFreelyContract extends OnObservedLocks {

    private static final Wait PATIENT = Wait.upTo(Duration.ofSeconds(60));

    /** For the databases. */
    protected PassingOnFreelyContract() {}

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

    private static void await(List<Crew.Job<Boolean>> jobs) throws Exception {
        for (Crew.Job<Boolean> job : jobs) {
            assertThat(job.result()).isTrue();
        }
    }

    @Test
    void it_takes_no_statement_and_one_is_inside_at_a_time() throws Exception {
        int threads = 40;
        AtomicInteger inside = new AtomicInteger();
        Lease first = node.lease(name("a")).acquire(Wait.none());
        List<Crew.Job<Boolean>> jobs = inLine(threads, () -> {
            assertThat(inside.incrementAndGet()).isEqualTo(1);
            inside.decrementAndGet();
        });
        seen.reset();

        first.close();

        await(jobs);
        assertThat(count(Kind.HANDED_OVER)).isEqualTo(threads);
        // the first and the last, and some more if the machine was busy: a run lasts 20 ms
        assertThat(seen.statements()).hasSizeLessThan(threads);
    }

    @Test
    void threads_of_two_processes_take_turns_and_never_meet() throws Exception {
        int turns = 10;
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger changes = new AtomicInteger();
        AtomicReference<Locks> last = new AtomicReference<>(node);
        List<Crew.Job<Boolean>> jobs = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            Locks each = i % 2 == 0 ? node : other;
            jobs.add(crew.start(() -> {
                // so that neither ends before the other has had its turns
                while (changes.get() < turns) {
                    each.lease(name("a")).run(PATIENT, () -> {
                        assertThat(inside.incrementAndGet()).isEqualTo(1);
                        changes.addAndGet(last.getAndSet(each) == each ? 0 : 1);
                        // each has something to do, so that there is always one of the same process who waits
                        Thread.sleep(2);
                        inside.decrementAndGet();
                    });
                }
                return true;
            }));
        }

        // were a turn not bounded, those of one process would pass it on among themselves for ever
        await(jobs);
        assertThat(changes).hasValueGreaterThanOrEqualTo(turns);
    }
}
