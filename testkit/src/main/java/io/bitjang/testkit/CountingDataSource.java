// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Records what passes through a {@link DataSource}, and lets a test step in before or after any statement. Thread-safe.
 *
 * <p>An <em>execution</em> is one call of {@code execute}, {@code executeQuery}, {@code executeUpdate} or {@code executeBatch}: one
 * round trip. A batch is one execution of several statements. Commits, rollbacks and changes of a connection's settings are counted
 * apart from statements. {@code unwrap} leads to the driver's objects, past the recorder.
 */
public final class CountingDataSource implements DataSource {

    private final DataSource target;
    private final Recorder recorder = new Recorder();

    /** @param target where the connections come from: a pool or a source without one */
    public CountingDataSource(DataSource target) {
        this.target = target;
    }

    /** How a statement was executed. */
    public enum Kind {
        /** {@code execute} */
        EXECUTE,
        /** {@code executeQuery} */
        QUERY,
        /** {@code executeUpdate} or {@code executeLargeUpdate} */
        UPDATE,
        /** {@code executeBatch} or {@code executeLargeBatch} */
        BATCH
    }

    /**
     * One round trip.
     *
     * @param kind the method that was called
     * @param statements the SQL texts, as the caller wrote them: one, or as many as the batch has
     */
    public record Execution(Kind kind, List<String> statements) {}

    /** Called with the SQL text around an execution; may block, or throw in the database's stead. */
    @FunctionalInterface
    public interface Hook {
        /**
         * @param sql the text of the statement (of a batch, the first), or {@code COMMIT} or {@code ROLLBACK}
         * @throws SQLException to make the execution fail
         */
        void at(String sql) throws SQLException;
    }

    /** The texts of all statements in the order of execution; a batch of three is three of them. */
    public List<String> statements() {
        return recorder.executions().stream()
                .flatMap(execution -> execution.statements().stream())
                .toList();
    }

    /** All executions in their order; a batch of three is one of them. */
    public List<Execution> executions() {
        return recorder.executions();
    }

    /** The number of executions of one kind. */
    public int count(Kind kind) {
        return (int) recorder.executions().stream()
                .filter(execution -> execution.kind() == kind)
                .count();
    }

    /** The number of executions. */
    public int roundTrips() {
        return recorder.executions().size();
    }

    /** How often {@code commit()} was called. */
    public int commits() {
        return recorder.commits.get();
    }

    /** How often {@code rollback} was called, to a savepoint or not. */
    public int rollbacks() {
        return recorder.rollbacks.get();
    }

    /**
     * The calls that change a connection's settings, like {@code setAutoCommit(false)}, in their order: auto-commit, isolation,
     * read-only, network time-out, catalog, schema, holdability.
     */
    public List<String> settingsChanged() {
        return List.copyOf(recorder.settings);
    }

    /** The number of connections that are open now. */
    public int open() {
        return recorder.open.get();
    }

    /** The number of connections that were handed out. */
    public int opened() {
        return recorder.opened.get();
    }

    /** The highest number of connections that were open at the same time. */
    public int maxOpen() {
        return recorder.maxOpen.get();
    }

    /** Forgets everything but the connections that are open and the hooks. */
    public void reset() {
        recorder.reset();
    }

    /** Calls the hook before each execution, commit and rollback, instead of the one before. */
    public void onStatement(Hook hook) {
        recorder.before = hook;
    }

    /** Calls the hook after each execution, commit and rollback that succeeded, instead of the one before. */
    public void afterStatement(Hook hook) {
        recorder.after = hook;
    }

    /** Calls no hook any more. */
    public void clearHooks() {
        recorder.before = Recorder.NOTHING;
        recorder.after = Recorder.NOTHING;
    }

    @Override
    public Connection getConnection() throws SQLException {
        return recorder.wrap(target.getConnection());
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        return recorder.wrap(target.getConnection(user, password));
    }

    @Override
    public @Nullable PrintWriter getLogWriter() throws SQLException {
        return target.getLogWriter();
    }

    @Override
    public void setLogWriter(PrintWriter out) throws SQLException {
        target.setLogWriter(out);
    }

    @Override
    public void setLoginTimeout(int seconds) throws SQLException {
        target.setLoginTimeout(seconds);
    }

    @Override
    public int getLoginTimeout() throws SQLException {
        return target.getLoginTimeout();
    }

    @Override
    public Logger getParentLogger() throws java.sql.SQLFeatureNotSupportedException {
        return target.getParentLogger();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        return type.isInstance(target) ? type.cast(target) : target.unwrap(type);
    }

    @Override
    public boolean isWrapperFor(Class<?> type) throws SQLException {
        return type.isInstance(target) || target.isWrapperFor(type);
    }
}
