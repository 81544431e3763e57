// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.LockException;
import io.bitjang.Locks;
import io.bitjang.SessionLock;
import io.bitjang.Wait;
import io.bitjang.testkit.CountingDataSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What session locks cost: statements and connections. H2, which has none and where each has a connection of its own, is exempt. */
public abstract class SessionCostContract extends OnObservedLocks {

    /** For the databases. */
    protected SessionCostContract() {}

    private boolean emulated() {
        return database.name().equals("h2");
    }

    @Test
    void to_take_is_one_round_trip_and_to_give_back_another() {
        node.session(name("warm")).run(Wait.none(), () -> {});
        seen.reset();

        SessionLock.Hold hold = node.session(name("a")).acquire(Wait.none());
        int taken = seen.statements().size();
        hold.close();
        int givenBack = seen.statements().size() - taken;

        assertThat(List.of(taken, givenBack))
                .as("%s", seen.statements())
                .isEqualTo(emulated() ? List.of(3, 1) : List.of(1, 1));
    }

    @Test
    void nothing_is_sent_while_nothing_is_held_and_a_keep_alive_while_something_is() throws Exception {
        node.session(name("a")).run(Wait.none(), () -> {});
        seen.reset();
        // twice as long as a keep-alive takes, and more
        TimeUnit.MILLISECONDS.sleep(900);
        assertThat(seen.statements()).isEmpty();

        SessionLock.Hold hold = node.session(name("a")).acquire(Wait.none());
        seen.reset();
        long before = System.nanoTime();
        Crew.eventually("it is kept alive", () -> seen.statements().size() >= 2);
        assertThat(Duration.ofNanos(System.nanoTime() - before)).isGreaterThan(Duration.ofMillis(400));
        hold.close();
    }

    @Test
    void as_many_locks_as_are_allowed_have_two_connections() {
        int allowed = Boolean.getBoolean("bitjang.soak") ? 10_000 : 1_000;
        Locks full = closing(
                Locks.builder(seen).maxSessionLocks(allowed).owner("full").build());
        int locksHeld = emulated() ? 5 : allowed;
        seen.reset();
        List<SessionLock.Hold> holds = new ArrayList<>();
        for (int i = 0; i < locksHeld; i++) {
            holds.add(full.session(name("many" + i)).acquire(Wait.none()));
        }

        if (!emulated()) {
            assertThat(seen.open()).isLessThanOrEqualTo(2);
            assertThatThrownBy(() -> full.session(name("one too many")).tryAcquire())
                    .isInstanceOf(LockException.class)
                    .hasMessageContaining("maxSessionLocks");
        }
        assertThat(other.session(name("many" + (locksHeld - 1))).tryAcquire()).isEmpty();
        holds.forEach(SessionLock.Hold::close);
        assertThat(other.session(name("many0")).tryRun(() -> {})).isTrue();
    }

    @Test
    void two_hundred_threads_and_two_connections_are_enough_and_first_come_is_first_served() throws Exception {
        Locks small =
                closing(builder().sessionDataSource(closing(database.pool(2))).build());
        int threads = 200;
        AtomicInteger inside = new AtomicInteger();
        Queue<Integer> order = new ConcurrentLinkedQueue<>();
        List<Crew.Job<Integer>> jobs = new ArrayList<>();
        SessionLock.Hold first = small.session(name("a")).acquire(Wait.none());
        for (int i = 0; i < threads; i++) {
            int number = i;
            jobs.add(crew.start(() -> small.session(name("a")).call(Wait.upTo(Duration.ofSeconds(60)), () -> {
                        assertThat(inside.incrementAndGet()).isEqualTo(1);
                        try (var connection = pool.getConnection()) {
                            order.add(number);
                        }
                        return inside.decrementAndGet();
                    }))
                    .untilItWaits());
        }

        first.close();

        for (Crew.Job<Integer> job : jobs) {
            assertThat(job.result()).isZero();
        }
        assertThat(List.copyOf(order)).isSorted().hasSize(threads);
    }

    @Test
    void names_that_others_have_are_waited_for_although_no_connection_is_free_to_wait() throws Exception {
        List<SessionLock.Hold> held = new ArrayList<>();
        List<Crew.Job<String>> jobs = new ArrayList<>();
        CountDownLatch done = new CountDownLatch(1);
        for (int i = 0; i < (emulated() ? 3 : 5); i++) {
            String each = name("a" + i);
            held.add(other.session(each).acquire(Wait.none()));
            jobs.add(crew.start(() -> node.session(each).call(Wait.upTo(Duration.ofSeconds(30)), () -> {
                        done.await(20, TimeUnit.SECONDS);
                        return each;
                    }))
                    .untilItWaits());
        }
        seen.reset();

        held.forEach(SessionLock.Hold::close);

        Crew.eventually(
                "all have it",
                () -> held.stream().noneMatch(hold -> other.session(hold.name()).tryRun(() -> {})));
        assertThat(seen.open()).isLessThanOrEqualTo(emulated() ? 3 : 2);
        done.countDown();
        for (Crew.Job<String> job : jobs) {
            assertThat(job.result()).isNotEmpty();
        }
    }

    @Test
    void as_many_connections_wait_as_were_allowed_and_nothing_is_asked_meanwhile() throws Exception {
        int waiters = 3;
        CountingDataSource source = new CountingDataSource(pool);
        Locks patient = closing(
                Locks.builder(source).sessionWaiters(waiters).owner("patient").build());
        List<SessionLock.Hold> held = new ArrayList<>();
        List<Crew.Job<String>> jobs = new ArrayList<>();
        for (int i = 0; i < waiters; i++) {
            String each = name("a" + i);
            held.add(other.session(each).acquire(Wait.none()));
            jobs.add(crew.start(() -> patient.session(each).call(Wait.upTo(Duration.ofSeconds(30)), () -> each)));
        }
        // next to those there is the one that asks without waiting, where it is shared
        Crew.eventually("all wait", () -> source.open() == (emulated() ? waiters : waiters + 1));
        if (!emulated()) {
            Crew.eventually("nothing is asked for a while", () -> {
                source.reset();
                TimeUnit.MILLISECONDS.sleep(400);
                return source.statements().isEmpty();
            });
            source.reset();
            TimeUnit.MILLISECONDS.sleep(600);
            assertThat(source.statements()).isEmpty();
        }

        held.forEach(SessionLock.Hold::close);

        for (int i = 0; i < waiters; i++) {
            assertThat(jobs.get(i).result()).isEqualTo(name("a" + i));
        }
    }
}
