// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.mysql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.Locks;
import io.bitjang.contracts.hostile.Rewriting;
import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.OnLocks;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What calls itself MySQL to JDBC is asked what it is; here MySQL answers as others do. */
@OnDatabase("mysql")
class LookalikesTest extends OnLocks {

    private Locks answering(String rows) {
        return Locks.create(Rewriting.statements(pool, sql -> sql.startsWith("SHOW GLOBAL") ? rows : sql));
    }

    private static String variable(String name, String value) {
        return "SELECT '" + name + "', '" + value + "'";
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "TiDB        | 8.0.11-TiDB-v7.5.1 | TiDB Server (Apache License 2.0) Community Edition",
                "Vitess      | 8.0.30-Vitess      | Version: 19.0.4",
                "OceanBase   | 8.0.25             | OceanBase_CE 4.3.1.0",
                "SingleStore | 8.0.31             | SingleStoreDB source distribution",
                "Dolt        | 8.0.33             | Dolt",
                "PolarDB-X   | 8.0.32             | PolarDB-X 2.4.0"
            })
    void another_server_is_refused_by_name(String name, String version, String comment) {
        assertThatThrownBy(() ->
                        answering(variable("version", version) + " UNION ALL " + variable("version_comment", comment)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("does not work on " + name)
                .hasMessageContaining(comment);
    }

    @Test
    void replicas_that_repeat_statements_are_refused() {
        assertThatThrownBy(() ->
                        answering(variable("log_bin", "ON") + " UNION ALL " + variable("binlog_format", "STATEMENT")))
                .hasMessageContaining("binlog_format")
                .hasMessageContaining("ROW or MIXED");
    }

    @Test
    @Timeout(30)
    void nothing_hangs_on_a_pool_of_one() {
        try (HikariDataSource one = database.pool(1);
                Locks node = Locks.create(one)) {
            assertThat(node.lease(name("a")).tryRun(() -> {})).isTrue();
        }
    }
}
