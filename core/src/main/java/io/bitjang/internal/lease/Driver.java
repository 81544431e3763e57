// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.internal.sql.Plan;
import io.bitjang.internal.time.Ticker;
import io.bitjang.internal.work.Alarm;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * Does what the parts of an engine plan: none of them sees a thread. The driver is handed in: a test can decide what happens between
 * two statements. Thread-safe.
 */
interface Driver {

    /** Runs the plan on this thread, which waits for the database. */
    <T extends @Nullable Object> T run(Plan<T> plan);

    /** Runs the plan soon, on a worker. */
    void start(Plan<?> plan);

    /** Runs the plan at once, on a thread of its own that has this name; false if there can't be one more thread. */
    boolean start(String thread, Plan<?> plan);

    /** Returns the clock that alarms go by. */
    Ticker ticker();

    /** Makes an alarm whose task runs on the thread that must not wait. */
    Alarm alarm(Runnable task);

    /** Runs a short task after a time, on the thread that must not wait; null when closed, or when it can't be called off. */
    @Nullable
    Future<?> after(long nanos, Runnable task);

    /** Runs code of the application's, soon or when the code before it has ended; drops it when closed. */
    void callBack(Runnable code);

    /** Runs at once what must not be dropped: when closed, on the calling thread. */
    void complete(Runnable task);
}
