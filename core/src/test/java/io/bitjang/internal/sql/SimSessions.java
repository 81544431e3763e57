// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The locks that sessions of a simulated server hold and wait for: {@code pg_advisory_lock} and {@code GET_LOCK} are granted in the
 * order in which they were asked for, count how often their session has them, and end with it. A session whose client has gone
 * while it waits is found out when its wait has ended. Not thread-safe.
 */
public final class SimSessions {

    /** A lock, and who waits for it. */
    private static final class Lock {
        private @Nullable Session holder;
        private int times;
        private final Deque<Wait> waits = new ArrayDeque<>();
    }

    /** A session that waits for a lock. */
    private static final class Wait {
        private final Session session;
        private final Object key;
        private final Lock lock;
        private final Consumer<@Nullable Boolean> answer;

        Wait(Session session, Object key, Lock lock, Consumer<@Nullable Boolean> answer) {
            this.session = session;
            this.key = key;
            this.lock = lock;
            this.answer = answer;
        }
    }

    /** A client's session. */
    public final class Session {
        /** Its number. */
        public final long number = ++opened;

        /** Whose it is. */
        public final Object by;

        private @Nullable Wait wait;
        private boolean gone;
        private long waits;

        private Session(Object by) {
            this.by = by;
            sessions.add(this);
        }

        /** Tells whether its client has gone: it answers nothing any more. */
        public boolean isGone() {
            return gone;
        }

        /** The lock that it waits for; null if it does not wait. */
        public @Nullable Object awaited() {
            return wait == null ? null : wait.key;
        }

        /** Lists the locks that it has. */
        public List<Object> held() {
            return locks.entrySet().stream()
                    .filter(each -> each.getValue().holder == this)
                    .map(Map.Entry::getKey)
                    .toList();
        }

        /** Tells whether it has this lock. */
        public boolean has(Object key) {
            return lock(key).holder == this;
        }

        /** How often it was made to wait. */
        public long waits() {
            return waits;
        }

        /** Waits for the lock: the answer is true when it has it, and not before; null if the wait was cancelled. */
        public void await(Object key, Consumer<@Nullable Boolean> answer) {
            Lock lock = lock(key);
            waits++;
            if (lock.holder == null || lock.holder == this) {
                lock.holder = this;
                lock.times++;
                answer.accept(true);
            } else {
                wait = new Wait(this, key, lock, answer);
                lock.waits.add(wait);
            }
        }

        /** Its wait ends without the lock, if it is still this one. */
        public void endWait(long which, @Nullable Boolean answer) {
            if (wait != null && which == waits) {
                Wait ended = wait;
                wait = null;
                ended.lock.waits.remove(ended);
                ended.answer.accept(answer);
                endIfGone();
            }
        }

        /** Gives the lock back once; false if it did not have it. */
        public boolean release(Object key) {
            Lock lock = lock(key);
            if (lock.holder != this) {
                return false;
            }
            if (--lock.times == 0) {
                passOn(lock);
            }
            return true;
        }

        /** Gives all back. */
        public void releaseAll() {
            locks.values().stream().filter(lock -> lock.holder == this).forEach(SimSessions.this::passOn);
        }

        /** Its client has gone. */
        public void end() {
            gone = true;
            endIfGone();
        }

        private void endIfGone() {
            if (gone && wait == null) {
                sessions.remove(this);
                releaseAll();
            }
        }
    }

    private final Map<Object, Lock> locks = new HashMap<>();
    private final List<Session> sessions = new ArrayList<>();
    private long opened;

    private Lock lock(Object key) {
        return locks.computeIfAbsent(key, any -> new Lock());
    }

    private void passOn(Lock lock) {
        lock.holder = null;
        lock.times = 0;
        @Nullable Wait next = lock.waits.poll();
        if (next != null) {
            lock.holder = next.session;
            lock.times = 1;
            next.session.wait = null;
            next.answer.accept(true);
            next.session.endIfGone();
        }
    }

    /** Opens a session. */
    public Session open(Object by) {
        return new Session(by);
    }

    /** Those that have not ended. */
    public List<Session> all() {
        return sessions;
    }
}
