// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import io.bitjang.Locks;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * For contracts that look at the table as a whole: every test has tables of its own, which are dropped after it. Both nodes, and all
 * that {@link #builder()} makes, use them.
 */
public abstract class OnOwnTables extends OnLocks {

    private boolean registered;

    /** For the contracts of this package and of users. */
    protected OnOwnTables() {}

    @Override
    protected Locks.Builder builder() {
        if (!registered) {
            // after the nodes, which still use the tables when they are closed
            registered = true;
            closing(() -> drop(""));
        }
        return super.builder().tablePrefix(prefix());
    }

    /** The table with this name, behind the prefix. */
    protected String table(String name) {
        return prefix() + name;
    }

    /** Drops this test's tables in a schema, given with its dot, or in the connection's own. */
    protected final void drop(String schema) {
        dropTables(schema + prefix());
    }

    /** Drops tables whose names begin in this way, with the schema if there is one. */
    final void dropTables(String beginning) {
        database.execute("DROP VIEW IF EXISTS " + beginning + "locks_view");
        for (String name : new String[] {"locks", "audit", "schema_version"}) {
            database.execute("DROP TABLE IF EXISTS " + beginning + name);
        }
    }

    /** Runs a statement and answers how many rows it changed. */
    protected int update(String sql, Object... values) {
        try (Connection connection = database.dataSource().getConnection();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                statement.setObject(i + 1, values[i]);
            }
            return statement.executeUpdate();
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    /** The first column of the first row. */
    protected @Nullable String read(String sql) {
        try (Connection connection = database.dataSource().getConnection();
                PreparedStatement statement = connection.prepareStatement(sql);
                ResultSet row = statement.executeQuery()) {
            return row.next() ? row.getString(1) : null;
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }
}
