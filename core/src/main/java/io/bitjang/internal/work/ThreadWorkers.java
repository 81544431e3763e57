// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.work;

import io.bitjang.internal.time.Deadline;
import io.bitjang.internal.time.Ticker;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
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
public final class ThreadWorkers implements Workers {

    private static final int MAX_WORKERS = 16;
    private static final int MAX_CALLBACKS = 16;
    private static final int IDLE_SECONDS = 1;
    private static final long NO_THREAD_PAUSE = Duration.ofMillis(100).toNanos();
    private static final Executor SOON =
            CompletableFuture.delayedExecutor(NO_THREAD_PAUSE, TimeUnit.NANOSECONDS, Runnable::run);

    private final Ticker ticker;
    private final ScheduledThreadPoolExecutor timer;
    private final ThreadPoolExecutor pool;

    /** What only the pool's own threads have. */
    private final ThreadLocal<Boolean> own = new ThreadLocal<>();

    /** The threads for the application's code, which may take as long as it likes. */
    private final ThreadPoolExecutor callbacks;

    /** The threads for what may hang and must not stand behind anything else. */
    private final ThreadPoolExecutor aside;

    /** Makes workers that start no thread until there is work. */
    public ThreadWorkers(Ticker ticker) {
        this(ticker, ThreadWorkers::named);
    }

    /** Makes workers whose threads are made by others. */
    ThreadWorkers(Ticker ticker, Function<String, ThreadFactory> threads) {
        this.ticker = ticker;
        timer = new ScheduledThreadPoolExecutor(1, threads.apply("bitjang-timer"));
        timer.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
        timer.allowCoreThreadTimeOut(true);
        timer.setRemoveOnCancelPolicy(true);
        ThreadFactory workers = threads.apply("bitjang-worker");
        pool = atMost(
                MAX_WORKERS,
                task -> workers.newThread(() -> {
                    own.set(true);
                    task.run();
                }));
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

    @Override
    public Ticker ticker() {
        return ticker;
    }

    @Override
    public void execute(Runnable task) {
        submit(pool, task);
    }

    @Override
    public boolean isAtWork() {
        return own.get() != null;
    }

    @Override
    public void callBack(Runnable code) {
        submit(callbacks, code);
    }

    @Override
    public void aside(Runnable task) {
        submit(aside, task);
    }

    @Override
    public void complete(Runnable task) {
        if (!submit(aside, task)) {
            Workers.logged(task);
        }
    }

    /** Submits a task; returns whether it will be run: not when closed. */
    private boolean submit(ThreadPoolExecutor threads, Runnable task) {
        Runnable safe = () -> Workers.logged(task);
        try {
            threads.execute(safe);
        } catch (RejectedExecutionException e) {
            Log.debug("Closed: a task is dropped");
            return false;
        } catch (OutOfMemoryError e) {
            Log.warn("No thread could be started, the work is put off: " + e.getMessage());
            if (threads.getQueue().offer(safe)) {
                // the task waits in the queue for the threads that there are
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

    @Override
    public @Nullable Future<?> after(long nanos, Runnable task) {
        try {
            return timer.schedule(() -> Workers.logged(task), nanos, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            return null;
        } catch (OutOfMemoryError e) {
            // the task waits in the timer's queue for a thread; one of the JDK's tries to start it: there may be none
            // of ours
            Log.warn("No thread could be started to keep the time: " + e.getMessage());
            Workers.logged(() -> SOON.execute(() -> ensureThread(timer)));
            return null;
        }
    }

    @Override
    public void close(Deadline end) {
        timer.shutdownNow();
        pool.shutdown();
        callbacks.shutdown();
        if (isAtWork()) {
            // a listener closes: this thread can't wait for its own end
            aside(() -> end(end));
        } else {
            end(end);
        }
        aside.shutdown();
    }

    private void end(Deadline end) {
        try {
            if (!pool.awaitTermination(end.remainingNanos(), TimeUnit.NANOSECONDS)) {
                pool.shutdownNow();
            }
        } catch (InterruptedException e) {
            pool.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public @Nullable Thread start(String name, Runnable work) {
        try {
            Thread thread = new Thread(() -> Workers.logged(work), name);
            thread.setDaemon(true);
            thread.start();
            return thread;
        } catch (OutOfMemoryError e) {
            Log.warn("The thread " + name + " could not be started: " + e.getMessage());
            return null;
        }
    }

    /** Makes daemon threads with a name and a number. */
    private static ThreadFactory named(String name) {
        AtomicInteger count = new AtomicInteger();
        return task -> {
            Thread thread = new Thread(task, name + "-" + count.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }
}
