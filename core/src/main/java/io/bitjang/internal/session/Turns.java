// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.session;

import io.bitjang.LockDeadlockException;
import io.bitjang.LockException;
import io.bitjang.LockName;
import io.bitjang.admin.LocalLock;
import io.bitjang.internal.sql.SessionLink;
import io.bitjang.internal.work.Locked;
import io.bitjang.internal.work.Workers;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Whose turn it is, in this process. A name has at most one holder here or one who tries for it in the database, so that it is
 * never taken twice by one session; all others stand in line. A lock that is given back goes to the next in line without a
 * statement, for a while; then it is really given back, so that other processes get their share.
 *
 * <p>{@code lock} guards everything; nothing is called under it. Thread-safe.
 */
final class Turns extends Locked {

    private static final int LONGEST_RUN = 500;
    private static final long LONGEST_RUN_NANOS = Duration.ofMillis(20).toNanos();

    /** The turn of one name. It is there as long as someone holds the lock, tries for it or gives it back. */
    private static final class Turn {
        final Deque<SessionWaiter> line = new ArrayDeque<>();

        @Nullable
        Holding holder;

        int run;
        long runBegan;

        /** Returns the holder if its session lives; otherwise it has lost the lock, and is told so before it is removed here. */
        @Nullable
        Holding holder() {
            return holder == null || holder.grant.link().isDead() ? null : holder;
        }
    }

    private final Workers workers;
    private final Consumer<Holding> release;
    private final int most;
    private final Map<LockName, Turn> turns = new HashMap<>();
    private final Map<Thread, LockName> waiting = new HashMap<>();
    private final Map<SessionLink, Set<Holding>> carried = new HashMap<>();

    /**
     * Makes turns of which nobody has one.
     *
     * @param release gives back the lock of a holder who has done
     * @param most how many locks may be held at a time
     */
    Turns(Workers workers, Consumer<Holding> release, int most) {
        this.workers = workers;
        this.release = release;
        this.most = most;
    }

    /** What a caller finds who wants a lock at once. */
    enum Begin {
        /** Nobody here has the lock, tries for it or gives it back: the caller must try. */
        MINE,
        /** Someone here has the lock, or waits for it. */
        TAKEN,
        /** The lock is being given back, or those who waited for it have gone: whether it is free will be known soon. */
        SOON
    }

    /** Begins to try for a lock without waiting. */
    Begin begin(LockName name) {
        return locked(() -> {
            Turn turn = turns.get(name);
            if (turn != null) {
                return turn.holder() == null && turn.line.isEmpty() ? Begin.SOON : Begin.TAKEN;
            }
            requireRoom(name);
            turns.put(name, new Turn());
            return Begin.MINE;
        });
    }

    /** Puts a waiter in line; true if nobody tries for the lock yet, so that the caller must. */
    boolean join(SessionWaiter waiter) {
        return locked(() -> {
            boolean first = !turns.containsKey(waiter.name());
            if (first) {
                requireRoom(waiter.name());
            } else {
                requireNoCycle(waiter);
            }
            turns.computeIfAbsent(waiter.name(), name -> new Turn()).line.add(waiter);
            waiting.put(waiter.thread, waiter.name());
            return first;
        });
    }

    /** Refuses more locks than are allowed: other sessions of a server fail when its table of locks is full. */
    private void requireRoom(LockName name) {
        if (turns.size() >= most) {
            throw new LockException(
                    name,
                    name + " can't be taken: " + most
                            + " session locks are held here already, which is the most that is allowed"
                            + " (maxSessionLocks)",
                    null);
        }
    }

    private void requireNoCycle(SessionWaiter waiter) {
        List<LockName> cycle = new ArrayList<>();
        @Nullable LockName wanted = waiter.name();
        while (wanted != null && !cycle.contains(wanted)) {
            cycle.add(wanted);
            Turn turn = turns.get(wanted);
            Holding holder = turn == null ? null : turn.holder();
            if (holder == null) {
                return;
            }
            if (holder.thread == waiter.thread) {
                throw new LockDeadlockException(
                        cycle,
                        cycle.size() == 1
                                ? "This thread has " + wanted
                                        + " already and would wait for itself; to hold it twice, use again()"
                                : "Waiting for " + cycle.get(0) + " would never end: " + cycle
                                        + " are each held by a thread that waits for the next, and the last by this one",
                        null);
            }
            wanted = waiting.get(holder.thread);
        }
    }

    /** Tells whether a thread holds a session lock. */
    boolean holdsAny(Thread thread) {
        return locked(() -> turns.values().stream()
                .map(Turn::holder)
                .anyMatch(holder -> holder != null && holder.thread == thread));
    }

    /** Removes a waiter who has gone; true if nobody is left who wants the lock that is tried for. */
    boolean left(SessionWaiter waiter) {
        return locked(() -> {
            waiting.remove(waiter.thread, waiter.name());
            Turn turn = turns.get(waiter.name());
            return turn != null && turn.line.remove(waiter) && turn.line.isEmpty() && turn.holder == null;
        });
    }

    /** Returns those who stand in line for a lock. */
    List<SessionWaiter> line(LockName name) {
        return locked(() -> {
            Turn turn = turns.get(name);
            if (turn == null) {
                return List.of();
            }
            turn.line.removeIf(SessionWaiter::isDone);
            return List.copyOf(turn.line);
        });
    }

    /** Returns all who stand in line. */
    List<SessionWaiter> everybody() {
        return locked(() ->
                turns.values().stream().flatMap(turn -> turn.line.stream()).toList());
    }

    /** Lists what is held and waited for in this process. */
    List<LocalLock> here() {
        return locked(() -> turns.entrySet().stream()
                .map(each -> here(each.getKey(), each.getValue()))
                .filter(lock -> lock.held() || lock.waiters() > 0)
                .toList());
    }

    private LocalLock here(LockName name, Turn turn) {
        Holding holder = turn.holder();
        Duration heldFor = holder == null
                ? Duration.ZERO
                : Duration.ofNanos(workers.ticker().now() - holder.since);
        long waiters = turn.line.stream().filter(waiter -> !waiter.isDone()).count();
        return new LocalLock(name, LocalLock.Kind.SESSION, holder != null, heldFor, (int) waiters);
    }

    /**
     * Makes the calling thread, which is not in line, the holder of a lock that was taken; null if its session has died since.
     */
    @Nullable
    Holding taken(LockName name, Grant grant) {
        return locked(() -> grant.link().isDead()
                ? null
                : holder(begun(name), new Holding(workers, release, name, grant, Thread.currentThread())));
    }

    /**
     * Gives a lock that was taken to the first in line; null if nobody is in line any more, or its session has died: then it is
     * to be given back.
     */
    @Nullable
    Holding granted(LockName name, Grant grant) {
        return locked(() -> next(name, begun(name), grant));
    }

    /**
     * Passes a holder's lock on to the next in line; null if it is to be given back to the database, and until that is done
     * nobody has it.
     */
    @Nullable
    Holding passedOn(Holding from) {
        return locked(() -> {
            Turn turn = turn(from.name);
            nobody(turn);
            boolean longRun = ++turn.run >= LONGEST_RUN || workers.ticker().now() - turn.runBegan > LONGEST_RUN_NANOS;
            return longRun ? null : next(from.name, turn, from.grant);
        });
    }

    private @Nullable Holding next(LockName name, Turn turn, Grant grant) {
        while (!grant.link().isDead()) {
            SessionWaiter waiter = turn.line.poll();
            if (waiter == null) {
                return null;
            }
            Holding holding = holder(turn, new Holding(workers, release, name, grant, waiter.thread));
            waiter.handedOver = turn.run > 0;
            if (waiter.serve(holding)) {
                waiting.remove(waiter.thread, name);
                return holding;
            }
            nobody(turn);
        }
        return null;
    }

    private Holding holder(Turn turn, Holding holding) {
        turn.holder = holding;
        carried.computeIfAbsent(holding.grant.link(), link -> new LinkedHashSet<>())
                .add(holding);
        return holding;
    }

    private void nobody(Turn turn) {
        Holding holding = turn.holder;
        if (holding != null) {
            turn.holder = null;
            carried.computeIfPresent(
                    holding.grant.link(), (link, all) -> all.remove(holding) && all.isEmpty() ? null : all);
        }
    }

    /** Notes that nobody has the lock or tries for it; true if someone stands in line, so that the caller must try again. */
    boolean free(LockName name) {
        return locked(() -> {
            Turn turn = turn(name);
            nobody(turn);
            turn.line.removeIf(SessionWaiter::isDone);
            if (turn.line.isEmpty()) {
                turns.remove(name);
                return false;
            }
            return true;
        });
    }

    /** Returns who holds what on a session. */
    List<Holding> on(SessionLink link) {
        return locked(() -> List.copyOf(carried.getOrDefault(link, Set.of())));
    }

    /** Tells whether anything is held on a session. */
    boolean any(SessionLink link) {
        return locked(() -> carried.containsKey(link));
    }

    /** Begins to count how long a lock passes on in this process. */
    private Turn begun(LockName name) {
        Turn turn = turn(name);
        turn.run = 0;
        turn.runBegan = workers.ticker().now();
        return turn;
    }

    private Turn turn(LockName name) {
        Turn turn = turns.get(name);
        if (turn == null) {
            throw new IllegalStateException("Nobody is at " + name);
        }
        return turn;
    }
}
