// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

class DatabaseTest {

    private static DataSource without(SQLException reason) {
        return (DataSource) Proxy.newProxyInstance(
                DatabaseTest.class.getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> {
                    throw reason;
                });
    }

    /** One that listens, or stands in line, may have the pool's only connection. */
    @Test
    void pool_that_has_no_connection_to_give_may_be_too_small_for_notifications() {
        SQLException empty = new SQLTransientConnectionException("request timed out (total=1, active=1)", "08003");

        assertThatThrownBy(() -> Database.open(without(empty), "No connection"))
                .hasMessage(
                        "No connection: request timed out (total=1, active=1). With only one or two connections in the"
                                + " pool, set notifications(false).");
    }

    @Test
    void pool_that_can_make_no_connection_says_why_and_nothing_else() {
        SQLException away = new SQLTransientConnectionException("request timed out", new SQLException("refused"));

        assertThatThrownBy(() -> Database.open(without(away), "No connection"))
                .hasMessage("No connection: request timed out");
    }
}
