// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.contestants;

import java.sql.SQLException;
import java.sql.Statement;

/** What the contestants with tables of their own have in common. */
final class Tables {

    private Tables() {}

    /** An SQL step. */
    interface Step {
        void run() throws SQLException;
    }

    /** Creates the table unless another process has. */
    static void create(Statement statement, String table, String columns) throws SQLException {
        try {
            statement.execute("CREATE TABLE IF NOT EXISTS " + table + " " + columns);
        } catch (SQLException e) {
            // two at the same moment
            statement.execute("SELECT 1 FROM " + table + " WHERE 1 = 0");
        }
    }

    /** The row may be there already. */
    static void ignoringDuplicate(Step insert) throws SQLException {
        try {
            insert.run();
        } catch (SQLException e) {
            if (e.getSQLState() == null || !e.getSQLState().startsWith("23")) {
                throw e;
            }
        }
    }
}
