// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.internal.sql.DatabaseException.Meaning;
import io.bitjang.internal.time.Ticker;
import io.bitjang.internal.work.Log;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A connection of its own whose session holds locks. The session is known by its number: if a pooler or a driver that reconnects
 * puts another in its place, the locks are gone, and every statement here says so. Thread-safe: one statement at a time.
 */
public final class SessionLink {

    private static final int MOST_LATE_CANCELS = 20;

    private final Ticker ticker;
    private final Connection connection;
    private final SessionStatements sql;
    private final boolean autoCommit;
    private final Map<Sql, PreparedStatement> prepared = new HashMap<>();

    /** The lock that is held for each statement. */
    private final ReentrantLock turn = new ReentrantLock();

    /** The lock that is held while the connection is closed. */
    private final ReentrantLock closing = new ReentrantLock();

    private final AtomicBoolean dead = new AtomicBoolean();
    private long session;
    private volatile long busySince;
    private volatile boolean busy;
    private volatile boolean closed;
    private volatile @Nullable PreparedStatement waiting;
    private volatile long lastUsed;

    /** A session that is asked on behalf of this one: it is watched with this one, and cut with it. */
    volatile @Nullable SessionLink beside;

    SessionLink(Ticker ticker, Connection connection, SessionStatements sql) throws SQLException {
        this.ticker = ticker;
        this.lastUsed = ticker.now();
        this.connection = connection;
        this.sql = sql;
        this.autoCommit = connection.getAutoCommit();
        if (autoCommit != sql.dialect.shares()) {
            connection.setAutoCommit(sql.dialect.shares());
        }
    }

    /** Finds out which session the connection has. */
    void open() {
        ask(sql.session, Params.none(), true);
    }

    /** Does work on the connection: one statement or transaction at a time. */
    <T extends @Nullable Object> T on(Work<T> work) {
        turn.lock();
        try {
            busySince = ticker.now();
            busy = true;
            return work.with(connection);
        } catch (Throwable e) {
            throw failure(e);
        } finally {
            busy = false;
            turn.unlock();
        }
    }

    /** Makes the exception for a failure: a pool that closed the connection under us does not say so in its own. */
    private DatabaseException failure(Throwable e) {
        DatabaseException failure = Database.failure(e);
        try {
            return connection.isClosed()
                    ? Database.failure(new SQLNonTransientConnectionException(e.getMessage(), "08003", e))
                    : failure;
        } catch (Throwable worse) {
            failure.addSuppressed(worse);
            return failure;
        }
    }

    /** Work on the connection. */
    interface Work<T extends @Nullable Object> {
        T with(Connection connection) throws SQLException;
    }

    /** Takes the lock if it is free. */
    public boolean attempt(Object key) {
        return inTransactionOfItsOwn(key, () -> {
            try {
                return yes(ask(sql.attempt, SessionStatements.key(key), false));
            } catch (DatabaseException e) {
                return grantedAllTheSame(key, e, e.meaning() == Meaning.UNKNOWN);
            }
        });
    }

    /** Waits for the lock, up to a time that the database may round up to seconds. */
    public boolean await(Object key, Duration atMost) {
        Params params = SessionStatements.key(key)
                .set("millis", Math.max(1, atMost.toMillis()))
                .set("seconds", Math.max(1, atMost.plusMillis(999).toSeconds()));
        return inTransactionOfItsOwn(key, () -> {
            try {
                return isYes(ask(sql.await, params, false)) || holds(key);
            } catch (DatabaseException e) {
                return grantedAllTheSame(key, e, e.meaning() != Meaning.FAILED);
            }
        });
    }

    /**
     * Tells whether a statement that failed got the lock: the grant may have won against a cancel, or the end of the time, or what
     * failed may be the reading of the answer.
     */
    private boolean grantedAllTheSame(Object key, DatabaseException e, boolean mayBeRefused) {
        if (isBroken(e) || !sql.dialect.shares()) {
            throw e;
        }
        boolean granted = holds(key);
        if (!granted && !mayBeRefused) {
            throw e;
        }
        return granted;
    }

    /** Cancels the wait that is under way; the lock may have been granted all the same. */
    public void cancel() {
        @Nullable PreparedStatement statement = waiting;
        if (statement == null) {
            return;
        }
        try {
            statement.cancel();
        } catch (Throwable e) {
            // a driver's own statement may be closed under it
            Log.debug("A wait could not be cancelled", e);
        }
    }

    /** Takes the step in a transaction that holds the lock, where a session can't; none stays open if the lock was not taken. */
    private boolean inTransactionOfItsOwn(Object key, BooleanSupplier step) {
        if (sql.dialect.shares()) {
            return step.getAsBoolean();
        }
        boolean taken = false;
        try {
            update(sql.prepare.orElseThrow(), SessionStatements.key(key));
            end(true);
            taken = step.getAsBoolean();
            return taken;
        } catch (DatabaseException e) {
            if (isBroken(e) || e.meaning() == Meaning.FAILED) {
                throw e;
            }
            return false;
        } finally {
            if (!taken) {
                end(false);
            }
        }
    }

    /**
     * Asks whether the session holds the lock. A cancel that was meant for the wait before may come as late as this; if it can't
     * be known, the session must end, or it might keep the lock without anybody's knowledge.
     */
    private boolean holds(Object key) {
        for (int tries = 1; ; tries++) {
            try {
                return yes(ask(sql.holds, SessionStatements.key(key), false));
            } catch (DatabaseException e) {
                if (tries == MOST_LATE_CANCELS || !SqlErrors.isCancelled(e.sqlException())) {
                    throw Database.failure(new SQLNonTransientConnectionException(
                            "It is not known what the session holds: " + e.getMessage(), "08006", e));
                }
            }
        }
    }

    /** Gives the lock back; false if the session did not have it. */
    public boolean release(Object key) {
        boolean had = isYes(ask(sql.release, SessionStatements.key(key), false));
        if (!sql.dialect.shares()) {
            end(true);
        }
        return had;
    }

    /** Marks the connection as dead; false if it was marked before. */
    public boolean die() {
        return dead.compareAndSet(false, true);
    }

    /** Marks the connection as dead if nothing was asked of it for this long; anyone who asks from now on learns to take another. */
    public boolean dieIfIdle(Duration atLeast) {
        if (!turn.tryLock()) {
            return false;
        }
        try {
            return idle().compareTo(atLeast) > 0 && die();
        } finally {
            turn.unlock();
        }
    }

    /** Tells whether the connection is marked as dead: it answers nothing any more. */
    public boolean isDead() {
        return dead.get();
    }

    /** Asks the session whether it lives. */
    public void check() {
        ask(sql.session, Params.none(), false);
    }

    /** Returns how long nothing was asked of the session; zero while something is. */
    public Duration idle() {
        return busy ? Duration.ZERO : Duration.ofNanos(ticker.now() - lastUsed);
    }

    /** Returns how long the present statement has taken, here or on the session beside; zero if there is none. */
    public Duration unanswered() {
        return busy
                ? Duration.ofNanos(ticker.now() - busySince)
                : Optional.ofNullable(beside).map(SessionLink::unanswered).orElse(Duration.ZERO);
    }

    /** Cuts the connection: the server gives back what the session had. Does not wait for a statement under way. */
    public void abort() {
        dead.set(true);
        try {
            connection.abort(Runnable::run);
            // a pool learns from the exception that this connection is not to be handed out again
            connection.createStatement().close();
        } catch (Throwable e) {
            Log.debug("A connection was cut", e);
        }
        closeQuietly();
    }

    /** Gives the connection back as it came, without a lock on it. */
    public void close() {
        try {
            on(open -> {
                if (sql.releaseAll.isPresent()) {
                    prepare(sql.releaseAll.get()).execute();
                } else {
                    open.rollback();
                }
                if (autoCommit != sql.dialect.shares()) {
                    open.setAutoCommit(autoCommit);
                }
                return true;
            });
        } catch (Throwable e) {
            Log.debug("A session could not be tidied up", e);
            abort();
            return;
        }
        closeQuietly();
    }

    /** Tells whether the connection can't be trusted any more after this failure. */
    public static boolean isBroken(DatabaseException e) {
        return e.meaning() == Meaning.UNKNOWN && !SqlErrors.isCancelled(e.sqlException());
    }

    /** Tells whether the connection is back where it came from. */
    public boolean isClosed() {
        return closed;
    }

    /** Closes the connection once: a pool that gets it twice may hand it out twice. Whoever comes second waits for the first. */
    private void closeQuietly() {
        Optional.ofNullable(beside).ifPresent(SessionLink::abort);
        closing.lock();
        try {
            if (!closed) {
                connection.close();
            }
        } catch (Throwable e) {
            Log.debug("A connection could not be closed", e);
        } finally {
            closed = true;
            closing.unlock();
        }
    }

    private void end(boolean commit) {
        on(open -> {
            if (commit) {
                open.commit();
            } else {
                open.rollback();
            }
            return commit;
        });
    }

    private void update(Sql statement, Params params) {
        on(open -> params.bind(open, prepare(statement), statement.parameters()).executeUpdate());
    }

    /** Asks the session, and returns the answer: null for a null, 0 for no row. */
    private @Nullable Long ask(Sql statement, Params params, boolean first) {
        return on(open -> {
            if (isDead()) {
                throw new SQLNonTransientConnectionException("This session has ended", "08003");
            }
            PreparedStatement ready = params.bind(open, prepare(statement), statement.parameters());
            waiting = statement == sql.await ? ready : null;
            try (ResultSet row = ready.executeQuery()) {
                waiting = null;
                if (!row.next()) {
                    return 0L;
                }
                long answer = row.getLong(1);
                boolean none = row.wasNull();
                long ranIn = row.getLong(2);
                if (first) {
                    session = ranIn;
                } else if (session != ranIn) {
                    throw new SQLNonTransientConnectionException(
                            "The session " + session + " was replaced by " + ranIn + ": its locks are gone", "08006");
                }
                return none ? null : answer;
            } finally {
                waiting = null;
                lastUsed = ticker.now();
            }
        });
    }

    private PreparedStatement prepare(Sql statement) throws SQLException {
        PreparedStatement ready = prepared.get(statement);
        if (ready == null) {
            ready = connection.prepareStatement(statement.text());
            prepared.put(statement, ready);
        }
        return ready;
    }

    private static boolean yes(@Nullable Long answer) {
        if (answer == null) {
            throw Database.failure(new SQLException(
                    "The server answered NULL: it is out of memory, or was told to end the statement", "HY000"));
        }
        return isYes(answer);
    }

    private static boolean isYes(@Nullable Long answer) {
        return answer != null && answer > 0;
    }
}
