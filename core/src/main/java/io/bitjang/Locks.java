// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import io.bitjang.admin.LockAdmin;
import io.bitjang.internal.dialect.Dialects;
import io.bitjang.internal.lease.LeaseEngine;
import io.bitjang.internal.lease.Limits;
import io.bitjang.internal.lease.NamedLease;
import io.bitjang.internal.lease.OfflineLocks;
import io.bitjang.internal.lease.Operator;
import io.bitjang.internal.lease.OwnerLocks;
import io.bitjang.internal.lease.Settings;
import io.bitjang.internal.schema.SchemaSetup;
import io.bitjang.internal.session.NamedSession;
import io.bitjang.internal.session.SessionEngine;
import io.bitjang.internal.session.SessionSettings;
import io.bitjang.internal.sql.Database;
import io.bitjang.internal.sql.RoutingSources;
import io.bitjang.internal.sql.SessionStore;
import io.bitjang.internal.sql.Tables;
import io.bitjang.internal.time.Deadline;
import io.bitjang.internal.time.Ticker;
import io.bitjang.internal.work.Events;
import io.bitjang.internal.work.HostName;
import io.bitjang.internal.work.ThreadWorkers;
import io.bitjang.internal.work.Workers;
import io.bitjang.spi.LockListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The way in: all locks of one database.
 *
 * <pre>{@code
 * Locks locks = Locks.create(dataSource);
 * try (Lease lease = locks.lease("nightly-report").acquire(Wait.upTo(Duration.ofSeconds(10)))) {
 *     report.write(lease.fence());
 * }
 * }</pre>
 *
 * <p>Make one per data source and keep it; while nothing is locked it has no thread and, but for a while after session locks, no
 * connection. Thread-safe.
 */
public final class Locks implements AutoCloseable {

    /** What to do about the tables when an instance is made. */
    public enum Schema {
        /** Create them if they are missing, bring them up to date if they are old. */
        CREATE,
        /** Fail, naming the script to run, if they are missing or old. */
        VALIDATE,
        /** Don't look. */
        NONE
    }

    /** What to do while a lock is held; keeps its own type of exception. */
    @FunctionalInterface
    public interface Task<X extends Exception> {
        /** Does it. */
        void run() throws X;
    }

    /** What to compute while a lock is held; keeps its own type of exception. */
    @FunctionalInterface
    public interface Call<T, X extends Exception> {
        /** Computes it. */
        T call() throws X;
    }

    private final LeaseEngine engine;
    private final LockManager manager;
    private final DistLock distLock;
    private final LockAdmin admin;

    private final SessionEngine sessions;
    private final List<Workers> workers;

    private final Duration closeTimeout;
    private final AtomicBoolean closing = new AtomicBoolean();
    private final CountDownLatch closed = new CountDownLatch(1);

    private Locks(LeaseEngine engine, SessionEngine sessions, List<Workers> workers, Duration closeTimeout) {
        this.engine = engine;
        this.sessions = sessions;
        this.workers = workers;
        this.closeTimeout = closeTimeout;
        this.manager = new OfflineLocks(engine);
        this.distLock = new OwnerLocks(engine);
        this.admin = new Operator(engine, sessions::here);
    }

    /** With the default settings: finds out which database it is, and creates the tables if they are missing. */
    public static Locks create(DataSource dataSource) {
        return builder(dataSource).build();
    }

    /** With settings of the caller's. */
    public static Builder builder(DataSource dataSource) {
        return new Builder(dataSource);
    }

    /** Offline locks, for edit screens. */
    public LockManager manager() {
        return manager;
    }

    /** Locks by owner. */
    public DistLock distLock() {
        return distLock;
    }

    /** The lease with this plain name. */
    public LeaseLock lease(String name) {
        return lease(LockName.of(name));
    }

    /** The lease with this name. */
    public LeaseLock lease(LockName name) {
        return new NamedLease(engine, List.of(Objects.requireNonNull(name, "name")));
    }

    /** Several leases together, all or nothing, in an order of the library's, so never a deadlock. */
    public LeaseLock leaseAll(String... names) {
        return leaseAll(Arrays.stream(names).map(LockName::of).toList());
    }

    /** Several leases together, all or nothing, in an order of the library's, so never a deadlock. */
    public LeaseLock leaseAll(Collection<LockName> names) {
        return new NamedLease(engine, names);
    }

    /** The session lock with this plain name. */
    public SessionLock session(String name) {
        return session(LockName.of(name));
    }

    /** The session lock with this name. It has nothing to do with a lease of the same name. */
    public SessionLock session(LockName name) {
        return new NamedSession(sessions, Objects.requireNonNull(name, "name"));
    }

    /** For operators. */
    public LockAdmin admin() {
        return admin;
    }

    /**
     * Gives back all leases and session locks, fails those who wait, ends the threads. Offline locks and locks by owner stay. A database
     * that does not answer is waited for {@linkplain Builder#closeTimeout for two seconds}; the log then names the leases that are left to
     * expire. Whoever closes it while another does waits for that one, as long at most. A listener may close it: that does not
     * wait for the listener's own end.
     */
    @Override
    public void close() {
        Deadline end = Ticker.SYSTEM.in(closeTimeout);
        if (!closing.compareAndSet(false, true)) {
            if (workers.stream().noneMatch(Workers::isAtWork)) {
                end.await(closed);
            }
            return;
        }
        try {
            close(end);
        } finally {
            closed.countDown();
        }
    }

    private void close(Deadline end) {
        CompletableFuture<Void> sessionsClosed = sessions.close(end);
        engine.close(end);
        sessionsClosed.join();
        workers.forEach(each -> each.close(end));
    }

    /** Settings for a {@link Locks}. Not thread-safe. */
    public static final class Builder {

        private final DataSource dataSource;
        private final List<LockListener> listeners = new ArrayList<>();
        private String owner = ProcessHandle.current().pid() + "@" + HostName.of(System.getenv());
        private Duration lease = Duration.ofSeconds(30);
        private Duration offline = Duration.ofMinutes(5);
        private Schema schema = Schema.CREATE;
        private String tablePrefix = "bitjang_";
        private @Nullable String schemaName;
        private boolean audit;
        private boolean notifications = true;
        private DataSource sessionDataSource;
        private int sessionWaiters = 1;
        private int maxSessionLocks = 10_000;
        private Duration closeTimeout = Duration.ofSeconds(2);

        private Builder(DataSource dataSource) {
            this.dataSource = Objects.requireNonNull(dataSource, "dataSource");
            this.sessionDataSource = dataSource;
        }

        /** In whose name locks are taken unless said otherwise; the process and host by default. A label for people. */
        public Builder owner(String name) {
            this.owner = Limits.owner(name);
            return this;
        }

        /** How long a lease lasts between renewals; 30 seconds by default. */
        public Builder leaseDuration(Duration duration) {
            this.lease = Limits.duration("duration of a lease", duration);
            return this;
        }

        /** How long an offline lock lasts; 5 minutes by default. */
        public Builder offlineDuration(Duration duration) {
            this.offline = Limits.duration("duration of an offline lock", duration);
            return this;
        }

        /** What to do about the tables; {@link Schema#CREATE} by default. */
        public Builder schema(Schema mode) {
            this.schema = Objects.requireNonNull(mode, "mode");
            return this;
        }

        /** What the tables' names begin with; {@code bitjang_} by default. An identifier. */
        public Builder tablePrefix(String prefix) {
            this.tablePrefix = Objects.requireNonNull(prefix, "prefix");
            return this;
        }

        /** The schema (on MySQL and MariaDB the database) of the tables; the connection's own by default. An identifier. */
        public Builder schemaName(String name) {
            this.schemaName = Objects.requireNonNull(name, "name");
            return this;
        }

        /**
         * Whether take-overs and forced releases are written into the audit trail; off by default. It records only what this instance
         * does: switch it on in every process.
         */
        public Builder audit(boolean on) {
            this.audit = on;
            return this;
        }

        /**
         * Whether this process stands in line with others while it waits for a lease (but for H2) and listens for PostgreSQL's
         * notifications, which takes one connection of the pool each meanwhile; on by default. Switch it off behind a pooler in
         * transaction mode, or with a pool of one or two connections: then it polls.
         */
        public Builder notifications(boolean on) {
            this.notifications = on;
            return this;
        }

        /**
         * Where session locks get their connections, which they keep while a lock is held: best a small pool of their own to the
         * same server, past any pooler. The business data source by default, of which they then take one connection while locks
         * are held, and one more while someone waits. A process that stands in line for a lease takes one of these, too.
         */
        public Builder sessionDataSource(DataSource source) {
            this.sessionDataSource = Objects.requireNonNull(source, "source");
            return this;
        }

        /**
         * How many connections may wait for a session lock that another process has, next to the one that carries the others; 1
         * by default, 8 at most. When all wait, or carry a lock that they waited for, further locks are asked for every 25 ms.
         */
        public Builder sessionWaiters(int connections) {
            this.sessionWaiters = SessionSettings.waiting(connections);
            return this;
        }

        /**
         * How many session locks this instance may hold at a time; 10,000 by default. PostgreSQL keeps all locks of all its users
         * in one table of limited size (about 35,000 with its default settings), and fails everybody when it is full.
         */
        public Builder maxSessionLocks(int most) {
            this.maxSessionLocks = SessionSettings.most(most);
            return this;
        }

        /** How long {@link Locks#close} waits at most for a database that does not answer; 2 seconds by default. */
        public Builder closeTimeout(Duration longest) {
            this.closeTimeout = Limits.duration("time to close", longest);
            return this;
        }

        /** Adds one who hears of every event. */
        public Builder listener(LockListener listener) {
            listeners.add(Objects.requireNonNull(listener, "listener"));
            return this;
        }

        /**
         * Makes the instance.
         *
         * @throws IllegalArgumentException if a setting is wrong, the database is not one that Bitjang knows, or the data source
         *     leads each thread to another one (Spring's {@code AbstractRoutingDataSource}): make one instance for each target
         * @throws LockingFailException if the database can't be reached, its locks can't be trusted (a cluster with several writers, a
         *     standby, a database that only looks like one that Bitjang knows), or its tables are missing or old
         */
        public Locks build() {
            RoutingSources.refuse(dataSource);
            RoutingSources.refuse(sessionDataSource);
            Tables tables = new Tables(schemaName, tablePrefix);
            Database database = new Database(dataSource, Dialects.detect(dataSource), Ticker.SYSTEM);
            SchemaSetup setup = new SchemaSetup(Ticker.SYSTEM, database, tables);
            switch (schema) {
                case CREATE -> setup.create();
                case VALIDATE -> setup.validate();
                case NONE -> {}
            }
            Workers workers = new ThreadWorkers(Ticker.SYSTEM);
            // a session that hangs must not keep a lease from its renewal
            Workers sessionWorkers = new ThreadWorkers(Ticker.SYSTEM);
            Events events = new Events(listeners);
            SessionStore sessions =
                    new SessionStore(Ticker.SYSTEM, dataSource, sessionDataSource, database.dialect(), tables);
            Settings settings = new Settings(owner, lease, offline, audit, notifications);
            LeaseEngine leases = LeaseEngine.over(database, tables, sessions, settings, workers, events);
            SessionSettings ofSessions = new SessionSettings(owner, sessionWaiters, maxSessionLocks);
            SessionEngine sessionEngine = new SessionEngine(sessions, ofSessions, sessionWorkers, events);
            return new Locks(leases, sessionEngine, List.of(workers, sessionWorkers), closeTimeout);
        }
    }
}
