// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.internal.dialect.Dialect;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** Runs statements on one open connection. Not thread-safe. */
public final class Statements {

    /** Reads the row that the result set stands on. */
    public interface RowReader<T> {
        /** Reads the row. */
        T read(ResultSet row) throws SQLException;
    }

    private final Connection connection;
    private final Dialect dialect;

    Statements(Connection connection, Dialect dialect) {
        this.connection = connection;
        this.dialect = dialect;
    }

    /** Begins a transaction of our own, on a connection without auto-commit. */
    void begin() throws SQLException {
        if (!dialect.beforeTransaction().isEmpty()) {
            try (Statement statement = connection.createStatement()) {
                statement.execute(dialect.beforeTransaction());
            }
        }
    }

    /** Commits the transaction: what a standby did not confirm is told here, not by the statement. */
    void commit() throws SQLException {
        if (dialect.warnsWhenNotReplicated()) {
            connection.clearWarnings();
        }
        connection.commit();
        if (dialect.warnsWhenNotReplicated()) {
            requireReplicated(connection.getWarnings());
        }
    }

    /** Runs a statement that answers with rows. */
    public <T> List<T> query(Sql sql, Params params, RowReader<T> reader) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.text())) {
            // not executeQuery: MySQL's driver refuses it for what MariaDB answers with rows, as INSERT ... RETURNING
            params.bind(connection, statement, sql.parameters()).execute();
            List<T> result = new ArrayList<>();
            try (ResultSet rows = statement.getResultSet()) {
                while (rows.next()) {
                    result.add(reader.read(rows));
                }
            }
            requireReplicated(statement.getWarnings());
            return result;
        }
    }

    /** Runs a statement that answers with the number of changed rows. */
    public int update(Sql sql, Params params) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.text())) {
            int count = params.bind(connection, statement, sql.parameters()).executeUpdate();
            requireReplicated(statement.getWarnings());
            return count;
        }
    }

    /** Runs an update that answers with one number, or none if it changed nothing. */
    public OptionalLong number(Sql sql, Params params) throws SQLException {
        if (!dialect.answersByGeneratedKey()) {
            List<Long> rows = query(sql, params, row -> row.getLong(1));
            return rows.isEmpty() ? OptionalLong.empty() : OptionalLong.of(rows.get(0));
        }
        try (PreparedStatement statement = connection.prepareStatement(sql.text(), Statement.RETURN_GENERATED_KEYS)) {
            int count = params.bind(connection, statement, sql.parameters()).executeUpdate();
            try (ResultSet keys = statement.getGeneratedKeys()) {
                // only the first key is real: Connector/J makes up one for each further row
                return count > 0 && keys.next() ? OptionalLong.of(keys.getLong(1)) : OptionalLong.empty();
            }
        }
    }

    /**
     * Refuses a change that no standby has confirmed: PostgreSQL with synchronous standbys answers a cancelled wait for them with
     * success and the warning 01000: the change may be lost at a failover, so it counts as an answer that never came.
     */
    private void requireReplicated(@Nullable SQLWarning warning) throws SQLException {
        if (dialect.warnsWhenNotReplicated() && warning != null && "01000".equals(warning.getSQLState())) {
            throw new SQLTransientConnectionException(
                    "The change was not confirmed by a standby: " + warning.getMessage(), "08007");
        }
    }
}
