// SPDX-License-Identifier: Apache-2.0
package io.bitjang.races;

import io.bitjang.internal.time.Deadline;
import io.bitjang.internal.time.Ticker;
import io.bitjang.internal.work.Locked;
import io.bitjang.internal.work.Workers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;

/** Threads of an instance that a test has in its hand: what is to be done at once, the calling thread does; time is let pass. */
public final class HandWorkers extends Locked implements Workers {

    private record Timed(long at, FutureTask<?> task) {}

    private final StillTicker ticker = new StillTicker();
    private final List<Timed> timed = new ArrayList<>();

    /** Lets so many nanoseconds pass, and does what is due then on the calling thread. */
    public void pass(long nanos) {
        ticker.pass(nanos);
        @Nullable Timed due = due();
        while (due != null) {
            due.task.run();
            due = due();
        }
    }

    private @Nullable Timed due() {
        return locked(() -> {
            for (Timed each : timed) {
                if (each.at - ticker.now() <= 0) {
                    timed.remove(each);
                    return each;
                }
            }
            return null;
        });
    }

    @Override
    public Ticker ticker() {
        return ticker;
    }

    @Override
    public void execute(Runnable task) {
        task.run();
    }

    @Override
    public void callBack(Runnable code) {
        code.run();
    }

    @Override
    public void aside(Runnable task) {
        task.run();
    }

    @Override
    public void complete(Runnable task) {
        task.run();
    }

    @Override
    public Future<?> after(long nanos, Runnable task) {
        Timed added = new Timed(ticker.now() + nanos, new FutureTask<>(task, null));
        locked(() -> timed.add(added));
        return added.task;
    }

    @Override
    public Thread start(String name, Runnable work) {
        work.run();
        return new Thread(name);
    }

    @Override
    public void close(Deadline end) {}
}
