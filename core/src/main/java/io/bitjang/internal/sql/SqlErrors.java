// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.internal.sql.DatabaseException.Meaning;
import java.sql.SQLException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The one place that knows what the databases' error codes mean. */
final class SqlErrors {

    /**
     * Vendor codes for "locked right now": MySQL and MariaDB 1205 (lock wait timeout) and 3572 (NOWAIT), MySQL's reference of
     * server errors; H2 50200 (lock timeout), H2's {@code ErrorCode}.
     */
    private static final Set<Integer> BUSY_CODES = Set.of(1205, 3572, 50200);

    /**
     * Vendor codes for "repeat": MySQL and MariaDB 1213 and 3058 (deadlock), 1020 (record has changed since last read), 3101
     * (certification); H2 90131 (concurrent update).
     */
    private static final Set<Integer> REPEAT_CODES = Set.of(1213, 3058, 1020, 3101, 90131);

    /**
     * SQL states where the server was told to stop in mid-statement or the link broke: PostgreSQL 57P01 (admin shutdown), 57P02
     * (crash shutdown), 57P05 (idle session timeout), 25P03; appendix A of its manual. Class 08 is the standard's.
     */
    private static final Set<String> BROKEN_STATES = Set.of("57P01", "57P02", "57P05", "25P03");

    /**
     * Vendor codes for a server that was told to stop in mid-statement or a link that broke: MySQL and MariaDB 1053 (server
     * shutdown in progress), 1317 (query interrupted), 1927 and 3169 (connection killed), 1180 (error during commit), 3100
     * (replication hook), 2006 and 2013 (connection lost); H2 90007, 90067, 90098, 90121 (connection or database closed), 57014
     * (statement cancelled).
     */
    private static final Set<Integer> BROKEN_CODES =
            Set.of(1053, 1317, 1927, 3169, 1180, 3100, 2006, 2013, 90007, 90067, 90098, 90121, 57014);

    /**
     * Vendor codes for a statement that the server was told to stop, or whose time was over: H2 57014; MySQL and MariaDB 1317
     * (query interrupted), MySQL 3024 (max_execution_time), MariaDB 1969 (max_statement_time).
     */
    private static final Set<Integer> CANCELLED_CODES = Set.of(57014, 1317, 3024, 1969);

    private SqlErrors() {}

    /** Tells what an exception of an executed statement means. */
    static Meaning meaningOf(SQLException e) {
        String state = state(e);
        int code = e.getErrorCode();
        boolean insertedByAnother = state.equals("23505") || code == 1062;
        if (state.equals("55P03") || BUSY_CODES.contains(code) || insertedByAnother) {
            return Meaning.BUSY;
        }
        if (state.equals("40001") || state.equals("40P01") || REPEAT_CODES.contains(code)) {
            return Meaning.REPEAT;
        }
        boolean broken = state.startsWith("08")
                || BROKEN_STATES.contains(state)
                || BROKEN_CODES.contains(code)
                || e instanceof SQLRecoverableException
                || e instanceof SQLTransientConnectionException
                || e instanceof SQLTimeoutException;
        return broken ? Meaning.UNKNOWN : Meaning.FAILED;
    }

    /** Tells whether an exception says that a table, a view or a column is not there. */
    static boolean isMissingTable(SQLException e) {
        // 42P01, 42703: PostgreSQL; 42S02, 42S22: MySQL, MariaDB, H2
        return Set.of("42P01", "42703", "42S02", "42S03", "42S04", "42S22").contains(state(e));
    }

    /** Tells whether only the statement was told to stop, by the server or by the driver. */
    static boolean isCancelled(SQLException e) {
        return isCancelledByServer(e) || e instanceof SQLTimeoutException;
    }

    /** Tells whether the server has stopped the statement, so that it is there and answers: PostgreSQL 57014 and vendor codes. */
    static boolean isCancelledByServer(SQLException e) {
        return state(e).equals("57014") || CANCELLED_CODES.contains(e.getErrorCode());
    }

    /**
     * Tells whether an exception is our own signal that someone has SET timestamp in the session: MySQL and MariaDB 1690; the
     * message shows the expression.
     */
    static boolean isWrongClock(SQLException e) {
        return e.getErrorCode() == 1690 && String.valueOf(e.getMessage()).contains("sysdate(");
    }

    /** Tells whether an exception is our own signal that one of several rows of a statement is held: MariaDB 1690. */
    static boolean isOutOfRange(SQLException e) {
        return (e.getErrorCode() == 1690 || state(e).equals("22003")) && !isWrongClock(e);
    }

    private static String state(SQLException e) {
        @Nullable String state = e.getSQLState();
        return state == null ? "" : state;
    }
}
