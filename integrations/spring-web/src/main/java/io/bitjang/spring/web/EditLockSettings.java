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
 * @param leaveGrace how long a lock lasts after its page was left, so that a reload finds it again; 10 seconds by default
 * @param pollInterval how often a node looks for changes while someone listens for them; 2 seconds by default
 * @param maxListeners how many may listen at a time on one node; 500 by default
 */
public record EditLockSettings(
        String basePath,
        Set<String> types,
        Duration lease,
        Duration leaveGrace,
        Duration pollInterval,
        int maxListeners) {

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
        if (maxListeners < 1) {
            throw new IllegalArgumentException("At least one must be able to listen, not " + maxListeners);
        }
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
                500);
    }

    /** When a holder should renew: after a third of the lease. */
    public Duration renewInterval() {
        return lease.dividedBy(3);
    }

    /** With the endpoints somewhere else. */
    public EditLockSettings withBasePath(String path) {
        return new EditLockSettings(path, types, lease, leaveGrace, pollInterval, maxListeners);
    }

    /** With another lease; a leave grace that would be longer becomes as long. */
    public EditLockSettings withLease(Duration duration) {
        Duration grace = leaveGrace.compareTo(duration) > 0 ? duration : leaveGrace;
        return new EditLockSettings(basePath, types, duration, grace, pollInterval, maxListeners);
    }

    /** With another grace after leaving. */
    public EditLockSettings withLeaveGrace(Duration duration) {
        return new EditLockSettings(basePath, types, lease, duration, pollInterval, maxListeners);
    }

    /** With another interval between looks. */
    public EditLockSettings withPollInterval(Duration duration) {
        return new EditLockSettings(basePath, types, lease, leaveGrace, duration, maxListeners);
    }

    /** With another number of listeners. */
    public EditLockSettings withMaxListeners(int listeners) {
        return new EditLockSettings(basePath, types, lease, leaveGrace, pollInterval, listeners);
    }
}
