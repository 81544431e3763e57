// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.work;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.internal.time.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Threads that can't be had, and alarms that are set into the past. */
class WorkersTest {

    private static final Logger WARNINGS = Logger.getLogger("io.bitjang");

    private final FewThreads threads = new FewThreads();
    private final Workers workers = threads.workers();

    @BeforeEach
    void quiet() {
        threads.timed(true);
        WARNINGS.setUseParentHandlers(false);
    }

    @AfterEach
    void close() {
        workers.close(Ticker.SYSTEM.in(Duration.ofSeconds(1)));
        WARNINGS.setUseParentHandlers(true);
    }

    private static void assertCalled(CountDownLatch latch) throws InterruptedException {
        assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    }

    private static void awaitAll(CountDownLatch latch) {
        try {
            assertCalled(latch);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void task_without_a_thread_throws_nothing_and_runs_when_there_is_one() throws Exception {
        CountDownLatch done = new CountDownLatch(3);

        workers.execute(done::countDown);
        workers.callBack(done::countDown);
        workers.aside(done::countDown);
        assertThat(done.getCount()).isEqualTo(3);
        threads.allow(3);

        assertCalled(done);
    }

    @Test
    void tasks_share_the_threads_that_there_are() throws Exception {
        threads.allow(1);
        CountDownLatch done = new CountDownLatch(50);

        // or else the one thread might have ended, for want of work, before the last task comes
        CountDownLatch all = new CountDownLatch(1);
        workers.execute(() -> awaitAll(all));
        for (int i = 0; i < 50; i++) {
            workers.execute(done::countDown);
        }

        all.countDown();
        assertCalled(done);
    }

    @Test
    void callbacks_of_one_holder_run_in_order_and_never_two_at_a_time() throws Exception {
        // idle threads end: as many as it takes
        threads.allow(1_000);
        Callbacks callbacks = new Callbacks(workers::callBack);
        callbacks.begin();
        AtomicInteger at = new AtomicInteger();
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger wrong = new AtomicInteger();
        CountDownLatch done = new CountDownLatch(200);

        for (int i = 0; i < 200; i++) {
            int mine = i;
            callbacks.add(() -> {
                wrong.addAndGet(inside.getAndIncrement() == 0 && at.getAndIncrement() == mine ? 0 : 1);
                inside.decrementAndGet();
                done.countDown();
            });
        }

        assertCalled(done);
        assertThat(wrong).hasValue(0);
    }

    @Test
    void alarm_that_is_always_set_into_the_past_rings_with_pauses() throws Exception {
        AtomicInteger rings = new AtomicInteger();
        CountDownLatch some = new CountDownLatch(20);
        Alarm[] alarm = new Alarm[1];
        alarm[0] = new Alarm(workers, () -> {
            rings.incrementAndGet();
            some.countDown();
            alarm[0].setTo(Ticker.SYSTEM.now() - 1_000_000_000);
        });
        long begun = System.nanoTime();

        alarm[0].setTo(Ticker.SYSTEM.now());
        assertCalled(some);

        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isGreaterThan(Duration.ofMillis(18));
    }

    /** A promise that somebody waits for is completed, even if that comes too late for a thread. */
    @Test
    void what_must_not_be_dropped_runs_on_the_calling_thread_when_everything_is_closed() {
        List<Thread> ran = new ArrayList<>();
        workers.close(Ticker.SYSTEM.in(Duration.ofSeconds(1)));

        workers.aside(() -> ran.add(Thread.currentThread()));
        workers.execute(() -> ran.add(Thread.currentThread()));
        workers.callBack(() -> ran.add(Thread.currentThread()));
        assertThat(ran).isEmpty();
        workers.complete(() -> {
            ran.add(Thread.currentThread());
            throw new AssertionError("what follows a promise may fail");
        });

        assertThat(ran).containsExactly(Thread.currentThread());
    }

    /** The end of a lease is kept by such an alarm: whoever sets it must not get the error, nor lose the alarm. */
    @Test
    void alarm_without_a_thread_that_keeps_the_time_throws_nothing_and_rings_when_there_is_one() throws Exception {
        CountDownLatch rings = new CountDownLatch(2);
        threads.timed(false);

        workers.after(0, rings::countDown);
        assertThat(rings.getCount()).isEqualTo(2);
        threads.timed(true);
        workers.after(0, rings::countDown);

        assertCalled(rings);
    }

    /** Where one lease is held for long, nobody comes next. */
    @Test
    void alarm_without_a_thread_that_keeps_the_time_rings_though_nobody_sets_another() throws Exception {
        CountDownLatch rings = new CountDownLatch(1);
        threads.timed(false);

        workers.after(0, rings::countDown);
        threads.timed(true);

        assertCalled(rings);
    }

    @Test
    void code_that_was_left_before_the_callbacks_begin_is_called_first() throws Exception {
        threads.allow(1_000);
        Callbacks callbacks = new Callbacks(workers::callBack);
        List<Integer> called = new CopyOnWriteArrayList<>();
        CountDownLatch done = new CountDownLatch(2);
        callbacks.add(() -> called.add(1));
        callbacks.add(done::countDown);
        assertThat(called).isEmpty();

        callbacks.begin();
        callbacks.add(() -> called.add(2));
        callbacks.add(done::countDown);

        assertCalled(done);
        assertThat(called).containsExactly(1, 2);
    }
}
