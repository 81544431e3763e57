// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.work;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The threads of an instance: one that keeps the time and never touches the database, and a few that do, so that a database that
 * hangs can't keep anybody past a deadline. Idle threads end. Thread-safe.
 */
public final class Workers implements Executor {

    private static final System.Logger LOG = System.getLogger("io.bitjang");
    private static final int MAX_WORKERS = 16;
    private static final int IDLE_SECONDS = 1;

    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, named("bitjang-timer"));
    private final ThreadPoolExecutor pool = new ThreadPoolExecutor(
            MAX_WORKERS,
            MAX_WORKERS,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            named("bitjang-worker"));

    /** For code of the application's, which may take as long as it likes. */
    private final ThreadPoolExecutor callbacks = new ThreadPoolExecutor(
            0, Integer.MAX_VALUE, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), named("bitjang-callback"));

    /** Starts none until there is work. */
    public Workers() {
        timer.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
        timer.allowCoreThreadTimeOut(true);
        timer.setRemoveOnCancelPolicy(true);
        pool.allowCoreThreadTimeOut(true);
    }

    /** Runs the task soon, on a thread that may wait for the database. Dropped when closed. */
    @Override
    public void execute(Runnable task) {
        submit(pool, task);
    }

    /** Runs code of the application's soon. Dropped when closed. */
    public void callBack(Runnable code) {
        submit(callbacks, code);
    }

    private static void submit(Executor threads, Runnable task) {
        try {
            threads.execute(() -> logged(task));
        } catch (RejectedExecutionException e) {
            LOG.log(System.Logger.Level.DEBUG, "Closed: a task is dropped");
        }
    }

    /** Runs a short task after a time, on the thread that must not wait. Null when closed. */
    public @Nullable ScheduledFuture<?> after(long nanos, Runnable task) {
        try {
            return timer.schedule(() -> logged(task), nanos, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            return null;
        }
    }

    /** Lets what is under way end, for a moment. */
    public void close() {
        timer.shutdownNow();
        pool.shutdown();
        callbacks.shutdown();
        try {
            if (!pool.awaitTermination(2, TimeUnit.SECONDS)) {
                pool.shutdownNow();
            }
        } catch (InterruptedException e) {
            pool.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }

    /** A task that fails must not end its thread's work for others. */
    private static void logged(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            LOG.log(System.Logger.Level.WARNING, "A background task failed", e);
        }
    }

    /** Daemon threads with a name and a number. */
    public static ThreadFactory named(String name) {
        AtomicInteger count = new AtomicInteger();
        return task -> {
            Thread thread = new Thread(task, name + "-" + count.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }
}
