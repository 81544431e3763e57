// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.work;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** Code of the application's that one holder has left to be called: one after the other, in order, never two at a time. Thread-safe. */
public final class Callbacks extends Locked {

    private final Deque<Runnable> line = new ArrayDeque<>();
    private final Executor threads;
    private boolean begun;
    private boolean running;

    /** Makes an empty line for one holder, whose code runs on these threads once it has begun. */
    public Callbacks(Executor threads) {
        this.threads = threads;
    }

    /** Begins to call the code that was added, and is added from now on. */
    public void begin() {
        locked(() -> begun = true);
        callIfAny();
    }

    /** Calls the code once this line has begun, after all code that was added before. */
    public void add(Runnable code) {
        locked(() -> line.add(code));
        callIfAny();
    }

    private void callIfAny() {
        if (locked(() -> begun && !running && (running = !line.isEmpty()))) {
            threads.execute(this::callAll);
        }
    }

    private void callAll() {
        @Nullable Runnable next = next();
        while (next != null) {
            Workers.logged(next);
            next = next();
        }
    }

    private @Nullable Runnable next() {
        return locked(() -> {
            @Nullable Runnable code = line.poll();
            running = code != null;
            return code;
        });
    }
}
