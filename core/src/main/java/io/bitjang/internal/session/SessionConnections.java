// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.session;

import io.bitjang.internal.sql.SessionLink;
import io.bitjang.internal.sql.SessionStore;
import io.bitjang.internal.work.Locked;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Which connections carry the locks: one is shared by all attempts that don't wait, and carries many locks; a few wait, each for
 * one lock, and then carry that one. Where a session can't hold many locks, each has a connection of its own. Thread-safe.
 */
final class SessionConnections extends Locked {

    private final SessionStore store;
    private final int waitingMost;
    private final Runnable watch;

    /** Held while the shared connection is opened, so that it is opened once. */
    private final ReentrantLock opening = new ReentrantLock();

    private final Set<SessionLink> all = new HashSet<>();
    private final Deque<SessionLink> idle = new ArrayDeque<>();
    private final Set<SessionLink> waiting = new HashSet<>();
    private @Nullable SessionLink shared;
    private int waitingOpen;
    private boolean closed;

    SessionConnections(SessionStore store, int waitingMost, Runnable watch) {
        this.store = store;
        this.watch = watch;
        this.waitingMost = waitingMost;
    }

    /** Returns a connection for an attempt that does not wait. */
    SessionLink forAttempt() {
        if (!store.shares()) {
            return opened();
        }
        opening.lock();
        try {
            SessionLink present = locked(() -> shared);
            if (present != null && !present.isDead()) {
                return present;
            }
            SessionLink link = opened();
            locked(() -> shared = link);
            return link;
        } finally {
            opening.unlock();
        }
    }

    /** Returns a connection that may wait for one lock; null if all are taken. */
    @Nullable
    SessionLink forWaiting() {
        @Nullable
        SessionLink ready = locked(() -> {
            SessionLink link = idle.poll();
            if (link != null) {
                waiting.add(link);
            }
            return link;
        });
        if (ready != null) {
            return ready;
        }
        if (!locked(() -> waitingOpen < waitingMost && ++waitingOpen > 0)) {
            return null;
        }
        @Nullable SessionLink link = null;
        try {
            SessionLink made = opened();
            // if it has died meanwhile, it is forgotten
            link = locked(() -> all.contains(made) && waiting.add(made)) ? made : null;
            return link;
        } finally {
            if (link == null) {
                locked(() -> --waitingOpen);
            }
        }
    }

    /** Opens a connection, which is watched before anything is asked on it. */
    private SessionLink opened() {
        SessionLink link = store.connect();
        if (!locked(() -> !closed && all.add(link))) {
            link.close();
            throw new IllegalStateException("This Locks is closed");
        }
        watch.run();
        boolean open = false;
        try {
            store.open(link);
            open = true;
            return link;
        } finally {
            if (!open) {
                // watched until it is closed
                link.close();
                forget(link);
            }
        }
    }

    /** Takes back a connection that carries no lock now. */
    void unused(SessionLink link) {
        boolean close = locked(() -> {
            if (link == shared || !all.contains(link)) {
                return false;
            }
            if (store.shares()) {
                if (waiting.remove(link)) {
                    idle.add(link);
                }
                return false;
            }
            waitingOpen -= waiting.remove(link) ? 1 : 0;
            return all.remove(link);
        });
        if (close) {
            link.close();
        }
    }

    /** Tells whether a connection is one of those that wait, or that carry the one lock they waited for. */
    boolean isWaiting(SessionLink link) {
        return locked(() -> waiting.contains(link));
    }

    /** Forgets a connection that is dead. */
    void forget(SessionLink link) {
        locked(() -> {
            if (!all.remove(link)) {
                return false;
            }
            if (link == shared) {
                shared = null;
            } else if (waiting.remove(link) || idle.remove(link)) {
                waitingOpen--;
            }
            return true;
        });
    }

    List<SessionLink> all() {
        return locked(() -> new ArrayList<>(all));
    }

    /** Lets no more connections be opened. */
    void close() {
        locked(() -> closed = true);
    }
}
