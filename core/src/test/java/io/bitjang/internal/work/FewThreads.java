// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.work;

import io.bitjang.internal.time.Ticker;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/** As many threads as a test allows: at first, there is none to be had. Thread-safe. */
public final class FewThreads {

    /** How many more threads may be started, but for the one that keeps the time. */
    private final AtomicInteger allowed = new AtomicInteger();

    /** Whether the thread that keeps the time may be started. */
    private volatile boolean timed;

    /** Workers that have these threads only. */
    public Workers workers() {
        return new ThreadWorkers(Ticker.SYSTEM, this::named);
    }

    /** Lets so many more threads be started. */
    public void allow(int threads) {
        allowed.set(threads);
    }

    /** Says whether the thread that keeps the time may be started from now on. */
    public void timed(boolean may) {
        timed = may;
    }

    private ThreadFactory named(String name) {
        boolean timer = name.contains("timer");
        return task -> {
            if (timer && !timed || !timer && allowed.getAndUpdate(left -> Math.max(0, left - 1)) == 0) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        };
    }
}
