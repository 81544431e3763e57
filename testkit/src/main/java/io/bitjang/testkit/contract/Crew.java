// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/** Threads of a test, and patience with what they do. All of them have ended when it is closed. */
final class Crew implements AutoCloseable {

    /** Far longer than anything here takes, even on a machine that is busy with other things. */
    static final Duration PATIENCE = Duration.ofSeconds(40);

    private final java.util.Queue<Thread> threads = new java.util.concurrent.ConcurrentLinkedQueue<>();
    private final AtomicInteger count = new AtomicInteger();

    /** Work on a thread of its own. */
    static final class Job<T> {

        private final FutureTask<T> task;
        private final Thread thread;

        Job(FutureTask<T> task, Thread thread) {
            this.task = task;
            this.thread = thread;
        }

        /** What came out of it; its own exception if it failed. */
        T result() throws Exception {
            try {
                return task.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            } catch (ExecutionException e) {
                if (e.getCause() instanceof Exception cause) {
                    throw cause;
                }
                throw e;
            } catch (TimeoutException e) {
                AssertionError hangs = new AssertionError("It did not end: " + thread);
                hangs.setStackTrace(thread.getStackTrace());
                throw hangs;
            }
        }

        boolean isDone() {
            return task.isDone();
        }

        /** Returns when the thread waits for a lock. */
        Job<T> untilItWaits() throws Exception {
            eventually("the thread waits for the lock", () -> task.isDone() || waits());
            assertThat(task.isDone()).as("ended without waiting").isFalse();
            return this;
        }

        void interrupt() {
            thread.interrupt();
        }

        private boolean waits() {
            Thread.State state = thread.getState();
            boolean parked = state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
            return parked
                    && Arrays.stream(thread.getStackTrace())
                            .anyMatch(frame -> frame.getClassName().startsWith("io.bitjang.internal.work.Waiter"));
        }
    }

    <T> Job<T> start(Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        Thread thread = new Thread(task, "crew-" + count.incrementAndGet());
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
        return new Job<>(task, thread);
    }

    /** Polls: for what no latch can tell. */
    static void eventually(String promise, Callable<Boolean> condition) throws Exception {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.call()) {
            assertThat(System.nanoTime() - deadline)
                    .as("still not: %s", promise)
                    .isNegative();
            TimeUnit.MILLISECONDS.sleep(3);
        }
    }

    static <T> T result(CompletableFuture<T> stage) throws Exception {
        return stage.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    @Override
    public void close() throws InterruptedException {
        threads.forEach(Thread::interrupt);
        for (Thread thread : threads) {
            thread.join(PATIENCE.toMillis());
            assertThat(thread.isAlive()).as("%s ends", thread).isFalse();
        }
    }
}
