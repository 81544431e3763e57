// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import io.bitjang.LockName;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Set;

/**
 * How the edit lock over HTTP behaves. Immutable: each method returns a changed copy.
 *
 * @param basePath where the endpoints are; {@code /bitjang/edit-locks} by default
 * @param types the types of locks that may be taken over HTTP; none by default, so that no lease can be touched by accident
 * @param lease how long a lock lasts between renewals; 3 minutes by default, which survives a hidden tab's slow timers
 * @param leaveGrace how long a lock lasts after its page was left, so that a reload finds it again; 10 seconds by default, not
 *     longer than the lease
 * @param pollInterval how often a node looks for changes while someone listens for them; 2 seconds by default
 * @param limits how much one person may take, and how much there may be on one node
 */
public record EditLockSettings(
        String basePath, Set<String> types, Duration lease, Duration leaveGrace, Duration pollInterval, Limits limits) {

    /**
     * Bounds, so that no single person takes what all others need. Immutable: each method returns a changed copy.
     *
     * @param locksPerPerson how many edit locks one person may hold at a time, on all nodes; 100 by default
     * @param listeners how many may listen at a time on one node; 500 by default
     * @param listenersPerPerson how many of these may be of one person; 50 by default
     * @param watched how many held locks of one type a node looks through for those who listen to the whole type; 5,000 by default
     * @param sweepAfter rows of locks, of every type, that nobody has held for this long are removed; 7 days by default, zero for
     *     never
     */
    public record Limits(int locksPerPerson, int listeners, int listenersPerPerson, int watched, Duration sweepAfter) {

        private static final Duration SOONEST_SWEEP = Duration.ofHours(1);

        /** Checks each value and names the one that is wrong. */
        public Limits {
            atLeastOne("edit locks of one person", locksPerPerson);
            atLeastOne("listeners", listeners);
            atLeastOne("listeners of one person", listenersPerPerson);
            atLeastOne("locks that are watched", watched);
            if (!sweepAfter.isZero()) {
                atLeast("time after which a lock's row is removed", sweepAfter, SOONEST_SWEEP);
            }
        }

        private static void atLeastOne(String what, int number) {
            if (number < 1) {
                throw new IllegalArgumentException("The number of " + what + " must be at least 1, not " + number);
            }
        }

        /** What is said above. */
        public static Limits defaults() {
            return new Limits(100, 500, 50, 5_000, Duration.ofDays(7));
        }

        /** With another number of locks for each person. */
        public Limits withLocksPerPerson(int number) {
            return new Limits(number, listeners, listenersPerPerson, watched, sweepAfter);
        }

        /** With another number of listeners on a node. */
        public Limits withListeners(int number) {
            return new Limits(locksPerPerson, number, listenersPerPerson, watched, sweepAfter);
        }

        /** With another number of listeners for each person. */
        public Limits withListenersPerPerson(int number) {
            return new Limits(locksPerPerson, listeners, number, watched, sweepAfter);
        }

        /** With another number of locks that are looked through. */
        public Limits withWatched(int number) {
            return new Limits(locksPerPerson, listeners, listenersPerPerson, number, sweepAfter);
        }

        /** With another time until rows are removed; zero for never. */
        public Limits withSweepAfter(Duration idle) {
            return new Limits(locksPerPerson, listeners, listenersPerPerson, watched, idle);
        }
    }

    /** Checks each value and names the one that is wrong. */
    public EditLockSettings {
        Objects.requireNonNull(basePath, "basePath");
        if (!basePath.matches("(/[A-Za-z0-9._~-]+)+")) {
            throw new IllegalArgumentException("The base path of the edit locks is a path like /bitjang/edit-locks"
                    + " of plain letters, without a slash at its end, not '" + basePath + "'");
        }
        types = Set.copyOf(types);
        types.forEach(type -> LockName.of(type, "any"));
        atLeast("lease of an edit lock", lease, Duration.ofSeconds(1));
        atLeast("leave grace of an edit lock", leaveGrace, Duration.ofMillis(1));
        if (leaveGrace.compareTo(lease) > 0) {
            throw new IllegalArgumentException("The leave grace of an edit lock (" + leaveGrace
                    + ") must not be longer than its lease (" + lease + ")");
        }
        atLeast("poll interval of the edit locks' events", pollInterval, Duration.ofMillis(50));
        Objects.requireNonNull(limits, "limits");
    }

    private static void atLeast(String what, Duration duration, Duration least) {
        if (duration.compareTo(least) < 0) {
            throw new IllegalArgumentException("The " + what + " must be at least " + least + ", not " + duration);
        }
    }

    /** For locks of these types, everything else by default. */
    public static EditLockSettings ofTypes(String... types) {
        return new EditLockSettings(
                "/bitjang/edit-locks",
                new LinkedHashSet<>(Arrays.asList(types)),
                Duration.ofMinutes(3),
                Duration.ofSeconds(10),
                Duration.ofSeconds(2),
                Limits.defaults());
    }

    /** When a holder should renew: after a third of the lease. */
    public Duration renewInterval() {
        return lease.dividedBy(3);
    }

    /** With the endpoints somewhere else. */
    public EditLockSettings withBasePath(String path) {
        return new EditLockSettings(path, types, lease, leaveGrace, pollInterval, limits);
    }

    /** With another lease; a leave grace that would be longer becomes as long. */
    public EditLockSettings withLease(Duration duration) {
        Duration grace = leaveGrace.compareTo(duration) > 0 ? duration : leaveGrace;
        return new EditLockSettings(basePath, types, duration, grace, pollInterval, limits);
    }

    /** With another grace after leaving. */
    public EditLockSettings withLeaveGrace(Duration duration) {
        return new EditLockSettings(basePath, types, lease, duration, pollInterval, limits);
    }

    /** With another interval between looks. */
    public EditLockSettings withPollInterval(Duration duration) {
        return new EditLockSettings(basePath, types, lease, leaveGrace, duration, limits);
    }

    /** With other limits. */
    public EditLockSettings withLimits(Limits other) {
        return new EditLockSettings(basePath, types, lease, leaveGrace, pollInterval, other);
    }
}
