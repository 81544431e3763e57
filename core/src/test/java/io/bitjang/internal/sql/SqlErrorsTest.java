// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.internal.sql.DatabaseException.Meaning;
import java.sql.SQLException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SqlErrorsTest {

    @ParameterizedTest
    @CsvSource({
        "55P03, 0, BUSY",
        "23505, 0, BUSY",
        "23000, 1062, BUSY",
        "HY000, 1205, BUSY",
        "HY000, 3572, BUSY",
        "HYT00, 50200, BUSY",
        "40001, 0, REPEAT",
        "40P01, 0, REPEAT",
        "HY000, 1213, REPEAT",
        "HY000, 1020, REPEAT",
        "90131, 90131, REPEAT",
        "08006, 0, UNKNOWN",
        "08007, 0, UNKNOWN",
        "57P01, 0, UNKNOWN",
        "25P03, 0, UNKNOWN",
        "HY000, 1053, UNKNOWN",
        "70100, 1317, UNKNOWN",
        "70100, 1927, UNKNOWN",
        "57014, 57014, UNKNOWN",
        "90067, 90067, UNKNOWN",
        "42601, 0, FAILED",
        "28P01, 0, FAILED",
        "25006, 0, FAILED",
        "53300, 0, FAILED",
    })
    void each_code_has_its_meaning(String state, int code, Meaning meaning) {
        assertThat(SqlErrors.meaningOf(new SQLException("why", state, code))).isEqualTo(meaning);
    }

    @Test
    void answer_that_never_came_is_unknown_whatever_its_code() {
        assertThat(SqlErrors.meaningOf(new SQLTimeoutException("why"))).isEqualTo(Meaning.UNKNOWN);
        assertThat(SqlErrors.meaningOf(new SQLRecoverableException("why"))).isEqualTo(Meaning.UNKNOWN);
        assertThat(SqlErrors.meaningOf(new SQLTransientConnectionException("why")))
                .isEqualTo(Meaning.UNKNOWN);
        assertThat(SqlErrors.meaningOf(new SQLException("no state at all"))).isEqualTo(Meaning.FAILED);
    }

    /** A pool that has no connection, or a server that lets nobody in, is no reason to ask for less. */
    @Test
    void statement_was_cancelled_only_if_the_server_says_so() {
        assertThat(List.of(
                        new SQLException("PostgreSQL", "57014"),
                        new SQLException("H2", "57014", 57014),
                        new SQLException("MySQL and MariaDB, KILL QUERY", "70100", 1317),
                        new SQLException("MySQL, max_execution_time", "HY000", 3024),
                        new SQLException("MariaDB, max_statement_time", "70100", 1969)))
                .allMatch(SqlErrors::isCancelledByServer);
        assertThat(List.of(
                        new SQLTimeoutException("login"),
                        new SQLException("broken", "08006"),
                        new SQLException("connection killed", "70100", 1927),
                        new SQLException("shutdown", "57P01"),
                        new SQLException("locked", "55P03")))
                .noneMatch(SqlErrors::isCancelledByServer);
    }
}
