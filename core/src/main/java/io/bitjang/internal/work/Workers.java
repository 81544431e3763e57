// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.work;

import io.bitjang.internal.time.Deadline;
import io.bitjang.internal.time.Ticker;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** The threads that work for an instance, and their clock. They are handed in: a test can decide what runs when. Thread-safe. */
public interface Workers extends Executor {

    /** Returns the clock that alarms go by. */
    Ticker ticker();

    /** Runs the task soon, on a thread that may wait for the database. Dropped when closed. */
    @Override
    void execute(Runnable task);

    /** Runs code of the application's, soon or when the code before it has ended. Dropped when closed. */
    void callBack(Runnable code);

    /** Runs at once what must not stand behind a database that hangs or behind code of the application's. Dropped when closed. */
    void aside(Runnable task);

    /** Runs at once what must not be dropped: when closed, it runs on the calling thread. */
    void complete(Runnable task);

    /** Runs a short task after a time, on the thread that must not wait. Null when closed, or when it can't be called off. */
    @Nullable
    Future<?> after(long nanos, Runnable task);

    /** Starts a thread that lives as long as its work; null if there can't be one more. */
    @Nullable
    Thread start(String name, Runnable work);

    /** Tells whether the calling thread is one of {@link #execute}'s, so that it can't wait for the end of its task. */
    default boolean isAtWork() {
        return false;
    }

    /** Closes the workers; the tasks that are under way may go on until the given end. */
    void close(Deadline end);

    /** Runs a task and logs its failure, which must not end its thread's work for others. */
    static void logged(Runnable task) {
        try {
            task.run();
        } catch (Throwable e) {
            // of any kind: languages without checked exceptions throw them, too
            Log.warn("A background task failed", e);
        }
    }
}
