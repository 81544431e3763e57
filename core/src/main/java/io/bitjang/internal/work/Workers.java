// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.work;

import io.bitjang.internal.time.Deadline;
import java.time.Duration;
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
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The threads of an instance: one that keeps the time and never touches the database, and a few that do, so that a database that
 * hangs can't keep anybody past a deadline. Idle threads end. A thread that can't be started delays its task; it throws nothing at
 * whoever asked. Thread-safe.
 */
public final class Workers implements Executor {

    private static final System.Logger LOG = System.getLogger("io.bitjang");
    private static final int MAX_WORKERS = 16;
    private static final int MAX_CALLBACKS = 16;
    private static final int IDLE_SECONDS = 1;
    private static final long NO_THREAD_PAUSE = Duration.ofMillis(100).toNanos();

    private final ScheduledThreadPoolExecutor timer;
    private final ThreadPoolExecutor pool;

    /** For code of the application's, which may take as long as it likes. */
    private final ThreadPoolExecutor callbacks;

    /** For what may hang and must not stand behind anything else. */
    private final ThreadPoolExecutor aside;

    /** Starts none until there is work. */
    public Workers() {
        this(Workers::named);
    }

    /** With threads that are made by others. */
    Workers(Function<String, ThreadFactory> threads) {
        timer = new ScheduledThreadPoolExecutor(1, threads.apply("bitjang-timer"));
        timer.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
        timer.allowCoreThreadTimeOut(true);
        timer.setRemoveOnCancelPolicy(true);
        pool = atMost(MAX_WORKERS, threads.apply("bitjang-worker"));
        callbacks = atMost(MAX_CALLBACKS, threads.apply("bitjang-callback"));
        aside = new ThreadPoolExecutor(
                0,
                Integer.MAX_VALUE,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                threads.apply("bitjang-aside"));
    }

    private static ThreadPoolExecutor atMost(int most, ThreadFactory threads) {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                most, most, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), threads);
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    /** Runs the task soon, on a thread that may wait for the database. Dropped when closed. */
    @Override
    public void execute(Runnable task) {
        submit(pool, task);
    }

    /** Runs code of the application's, soon or when the code before it has ended. Dropped when closed. */
    public void callBack(Runnable code) {
        submit(callbacks, code);
    }

    /** Runs at once what must not stand behind a database that hangs or behind code of the application's. Dropped when closed. */
    public void aside(Runnable task) {
        submit(aside, task);
    }

    /** The same for what must not be dropped: when closed, it runs on the calling thread. */
    public void complete(Runnable task) {
        if (!submit(aside, task)) {
            logged(task);
        }
    }

    /** Answers whether it will be run: not when closed. */
    private boolean submit(ThreadPoolExecutor threads, Runnable task) {
        Runnable safe = () -> logged(task);
        try {
            threads.execute(safe);
        } catch (RejectedExecutionException e) {
            LOG.log(System.Logger.Level.DEBUG, "Closed: a task is dropped");
            return false;
        } catch (OutOfMemoryError e) {
            LOG.log(System.Logger.Level.WARNING, "No thread could be started, the work is put off: " + e.getMessage());
            if (threads.getQueue().offer(safe)) {
                // for the threads that there are
                after(NO_THREAD_PAUSE, () -> ensureThread(threads));
            } else {
                after(NO_THREAD_PAUSE, () -> submit(threads, task));
            }
        }
        return true;
    }

    private void ensureThread(ThreadPoolExecutor threads) {
        try {
            if (threads.getPoolSize() == 0 && !threads.getQueue().isEmpty()) {
                threads.prestartCoreThread();
            }
        } catch (OutOfMemoryError e) {
            after(NO_THREAD_PAUSE, () -> ensureThread(threads));
        }
    }

    /** Runs a short task after a time, on the thread that must not wait. Null when closed, or when it can't be called off. */
    public @Nullable ScheduledFuture<?> after(long nanos, Runnable task) {
        try {
            return timer.schedule(() -> logged(task), nanos, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            return null;
        } catch (OutOfMemoryError e) {
            // the task waits in the timer's queue for a thread, which whoever comes next tries to start
            LOG.log(System.Logger.Level.WARNING, "No thread could be started to keep the time: " + e.getMessage());
            return null;
        }
    }

    /** Lets what is under way end until then. */
    public void close(Deadline end) {
        timer.shutdownNow();
        pool.shutdown();
        callbacks.shutdown();
        try {
            if (!pool.awaitTermination(end.remainingNanos(), TimeUnit.NANOSECONDS)) {
                pool.shutdownNow();
            }
        } catch (InterruptedException e) {
            pool.shutdownNow();
            Thread.currentThread().interrupt();
        }
        aside.shutdown();
    }

    /** A task that fails must not end its thread's work for others. */
    static void logged(Runnable task) {
        try {
            task.run();
        } catch (Throwable e) {
            // of any kind: languages without checked exceptions throw them, too
            LOG.log(System.Logger.Level.WARNING, "A background task failed", e);
        }
    }

    /** Starts a thread that lives as long as its work; null if there can't be one more. */
    public static @Nullable Thread start(String name, Runnable work) {
        try {
            Thread thread = new Thread(() -> logged(work), name);
            thread.setDaemon(true);
            thread.start();
            return thread;
        } catch (OutOfMemoryError e) {
            LOG.log(System.Logger.Level.WARNING, "The thread " + name + " could not be started: " + e.getMessage());
            return null;
        }
    }

    /** Daemon threads with a name and a number. */
    private static ThreadFactory named(String name) {
        AtomicInteger count = new AtomicInteger();
        return task -> {
            Thread thread = new Thread(task, name + "-" + count.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }
}
