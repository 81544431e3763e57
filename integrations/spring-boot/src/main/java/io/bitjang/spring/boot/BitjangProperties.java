// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import io.bitjang.Locks;
import io.bitjang.spring.web.EditLockSettings;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings, checked when they are read.
 *
 * @param enabled whether there are locks at all
 * @param owner in whose name locks are taken unless said otherwise; a label for people. By default the application's name with the
 *     process and the host
 * @param lease how long a lease lasts between its renewals
 * @param offlineLock how long an offline lock lasts
 * @param schema what to do about the tables at start-up. By default create on an embedded database, validate elsewhere
 * @param tablePrefix what the tables' names begin with
 * @param schemaName the schema (on MySQL and MariaDB the database) of the tables; the connection's own by default
 * @param audit whether the take-overs and forced releases of this process are written into the audit trail
 * @param notifications whether this process stands in line and listens while it waits for a lease; switch it off behind a pooler in
 *     transaction mode
 * @param dataSource the name of the data source bean whose transactions the locks follow, where there are several
 * @param pool the connections of the locks
 * @param session session locks
 * @param locked methods with @Locked
 * @param editLocks the edit lock over HTTP
 * @param metrics meters and observations
 * @param health the health indicator
 */
@ConfigurationProperties("bitjang")
record BitjangProperties(
        @DefaultValue("true") boolean enabled,
        @Nullable String owner,
        @DefaultValue("30s") Duration lease,
        @DefaultValue("5m") Duration offlineLock,
        Locks.@Nullable Schema schema,
        @DefaultValue("bitjang_") String tablePrefix,
        @Nullable String schemaName,
        @DefaultValue("false") boolean audit,
        @DefaultValue("true") boolean notifications,
        @Nullable String dataSource,
        @DefaultValue Pool pool,
        @DefaultValue Session session,
        @DefaultValue LockedMethods locked,
        @DefaultValue EditLocks editLocks,
        @DefaultValue Metrics metrics,
        @DefaultValue Health health) {

    BitjangProperties {
        requirePositive("bitjang.lease", lease);
        requirePositive("bitjang.offline-lock", offlineLock);
    }

    /**
     * The connections of the locks.
     *
     * @param dedicated whether the locks get a small pool of their own, a copy of the application's HikariCP pool; without it they
     *     wait for a connection of the application's pool, which may be empty
     * @param size how many connections that pool has at most; it keeps none that is idle. By default 8, and 64 on H2, where each
     *     session lock takes a connection
     */
    record Pool(
            @DefaultValue("true") boolean dedicated,
            @Nullable Integer size) {

        /** One to stand in line, one to listen, two for session locks; the rest is for the statements. */
        private static final int LEAST = 5;

        Pool {
            if (size != null && size < LEAST) {
                throw new IllegalArgumentException("bitjang.pool.size must be " + LEAST + " or more, not " + size
                        + ": up to four connections are kept while someone waits or session locks are held");
            }
        }
    }

    /**
     * Session locks.
     *
     * @param waiters how many connections may wait for a session lock that another process has, 1 to 8
     * @param maxLocks how many session locks this process may hold at a time
     */
    record Session(
            @DefaultValue("1") int waiters,
            @DefaultValue("10000") int maxLocks) {

        Session {
            if (waiters < 1 || waiters > 8) {
                throw new IllegalArgumentException("bitjang.session.waiters must be 1 to 8, not " + waiters);
            }
            if (maxLocks < 1) {
                throw new IllegalArgumentException("bitjang.session.max-locks must be 1 or more, not " + maxLocks);
            }
        }
    }

    /** What to do about something doubtful. */
    enum Severity {
        /** The application does not start. */
        FAIL,
        /** A warning in the log. */
        WARN
    }

    /**
     * Methods with {@code @Locked}.
     *
     * @param enabled whether @Locked takes effect
     * @param selfInvocation what to do about an object that calls its own @Locked method, which takes no lock
     */
    record LockedMethods(
            @DefaultValue("true") boolean enabled,
            @DefaultValue("fail") Severity selfInvocation) {}

    /**
     * The edit lock over HTTP. There is one in a web application that names types here, or has an {@code EditLockPolicy} bean.
     *
     * @param enabled whether the edit lock is there, if it is configured
     * @param path where its endpoints are
     * @param types the types of locks that may be taken over HTTP; not needed by an EditLockPolicy of the application's own
     * @param lease how long a lock lasts between renewals of the page
     * @param leave how long a lock lasts after its page was left, so that a reload finds it again; not longer than the lease
     * @param pollInterval how often this process looks for changes while a browser listens for them
     * @param maxListeners how many browsers may listen to this process at a time
     * @param maxListenersPerPerson how many of these may be of one person
     * @param maxLocksPerPerson how many edit locks one person may hold at a time
     * @param maxWatched how many held locks of one type this process looks through for browsers that listen to the whole type
     * @param sweepAfter rows of locks, of every type, that nobody has held for this long are removed; 0 for never
     */
    record EditLocks(
            @DefaultValue("true") boolean enabled,
            @DefaultValue("/bitjang/edit-locks") String path,
            @DefaultValue Set<String> types,
            @DefaultValue("3m") Duration lease,
            @DefaultValue("10s") Duration leave,
            @DefaultValue("2s") Duration pollInterval,
            @DefaultValue("500") int maxListeners,
            @DefaultValue("50") int maxListenersPerPerson,
            @DefaultValue("100") int maxLocksPerPerson,
            @DefaultValue("5000") int maxWatched,
            @DefaultValue("7d") Duration sweepAfter) {

        EditLocks {
            if (leave.compareTo(lease) > 0) {
                throw new IllegalArgumentException("bitjang.edit-locks.leave (" + leave
                        + ") must not be longer than bitjang.edit-locks.lease (" + lease + ")");
            }
            try {
                EditLockSettings.Limits limits = new EditLockSettings.Limits(
                        maxLocksPerPerson, maxListeners, maxListenersPerPerson, maxWatched, sweepAfter);
                new EditLockSettings(path, types, lease, leave, pollInterval, limits);
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("bitjang.edit-locks: " + e.getMessage(), e);
            }
        }

        EditLockSettings settings() {
            EditLockSettings.Limits limits = new EditLockSettings.Limits(
                    maxLocksPerPerson, maxListeners, maxListenersPerPerson, maxWatched, sweepAfter);
            return new EditLockSettings(path, types, lease, leave, pollInterval, limits);
        }
    }

    /**
     * Meters and observations.
     *
     * @param enabled whether there are meters and observations
     * @param counts how often, at most, the locks in the table are counted for the gauge, which reads the table; 0 for never
     */
    record Metrics(
            @DefaultValue("true") boolean enabled,
            @DefaultValue("1m") Duration counts) {

        Metrics {
            if (counts.isNegative()) {
                throw new IllegalArgumentException("bitjang.metrics.counts must not be negative: " + counts);
            }
        }
    }

    /**
     * The health indicator.
     *
     * @param timeout when a database that does not answer counts as down
     */
    record Health(@DefaultValue("2s") Duration timeout) {

        Health {
            requirePositive("bitjang.health.timeout", timeout);
        }
    }

    private static void requirePositive(String property, Duration duration) {
        if (duration.isZero() || duration.isNegative()) {
            throw new IllegalArgumentException(property + " must be longer than zero, not " + duration);
        }
    }
}
