// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.session;

import io.bitjang.LockName;
import io.bitjang.NoLockException;
import io.bitjang.SessionLock;
import io.bitjang.internal.work.Callbacks;
import io.bitjang.internal.work.Locked;
import io.bitjang.internal.work.Workers;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** One holder's time with a lock, by one or more holds. {@code lock} guards its state; nothing is called under it. Thread-safe. */
final class Holding extends Locked {

    private enum State {
        HELD,
        LOST,
        RELEASED
    }

    final LockName name;
    final Grant grant;
    final Thread thread;
    final long since;

    /** What tells the listeners of the loss, once they know that the holding has begun. */
    final Callbacks loss = new Callbacks(Runnable::run);

    private final Consumer<Holding> release;
    private final Callbacks called;
    private State state = State.HELD;
    private int holds;
    private boolean told;
    private boolean callsBack;
    private String reason = "";

    /**
     * Makes the holding of a lock that was granted to a thread.
     *
     * @param release gives the lock back when the last hold is closed
     */
    Holding(Workers workers, Consumer<Holding> release, LockName name, Grant grant, Thread thread) {
        this.called = new Callbacks(workers::callBack);
        this.release = release;
        this.name = name;
        this.grant = grant;
        this.thread = thread;
        this.since = workers.ticker().now();
    }

    /** Adds a hold of the lock. */
    SessionLock.Hold hold() {
        return locked(() -> {
            if (state != State.HELD) {
                told |= state == State.LOST;
                throw notHeld();
            }
            holds++;
            return new OneHold();
        });
    }

    /** Notes that the lock was lost, because its session died; false if the holding had ended before. */
    boolean lose(String because) {
        boolean lost = locked(() -> {
            if (state != State.HELD) {
                return false;
            }
            state = State.LOST;
            reason = because;
            told = callsBack;
            return true;
        });
        if (lost) {
            called.begin();
        }
        return lost;
    }

    /** Ends the holding, so that the lock is given back on the holder's behalf; false if it had ended. */
    boolean end() {
        return locked(() -> {
            boolean held = state == State.HELD;
            state = held ? State.RELEASED : state;
            return held;
        });
    }

    boolean isHeld() {
        return locked(() -> {
            told |= state == State.LOST;
            return state == State.HELD;
        });
    }

    private void close() {
        boolean last = locked(() -> {
            if (--holds > 0 || state == State.RELEASED) {
                return false;
            }
            if (state == State.LOST) {
                if (told) {
                    return false;
                }
                told = true;
                throw notHeld();
            }
            state = State.RELEASED;
            return true;
        });
        if (last) {
            release.accept(this);
        }
    }

    private NoLockException notHeld() {
        return new NoLockException(
                name, name + (state == State.LOST ? " was lost: " + reason : " is not held any more"), null);
    }

    /** One of the holds of the lock. */
    private final class OneHold implements SessionLock.Hold {

        private final AtomicBoolean closed = new AtomicBoolean();

        @Override
        public LockName name() {
            return name;
        }

        @Override
        public boolean isHeld() {
            return !closed.get() && Holding.this.isHeld();
        }

        @Override
        public SessionLock.Hold again() {
            if (closed.get()) {
                throw new NoLockException(name, "This hold of " + name + " is closed", null);
            }
            return hold();
        }

        @Override
        public SessionLock.Hold onLost(Consumer<SessionLock.Hold> callback) {
            locked(() -> {
                callsBack = true;
                return told |= state == State.LOST;
            });
            called.add(() -> callback.accept(this));
            return this;
        }

        @Override
        public void close() {
            if (closed.compareAndSet(false, true)) {
                Holding.this.close();
            }
        }

        @Override
        public String toString() {
            return "Hold[" + name + "]";
        }
    }
}
