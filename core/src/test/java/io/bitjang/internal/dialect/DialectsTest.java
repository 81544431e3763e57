// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.dialect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.Map;
import org.junit.jupiter.api.Test;

class DialectsTest {

    @Test
    void a_database_is_known_by_what_its_driver_calls_it() {
        assertThat(Dialects.of("PostgreSQL", "18.1", false).id()).isEqualTo("postgresql");
        assertThat(Dialects.of("MySQL", "8.0.33", false).id()).isEqualTo("mysql");
        assertThat(Dialects.of("MySQL", "9.1.0", false).id()).isEqualTo("mysql");
        assertThat(Dialects.of("MariaDB", "11.4.5-MariaDB", false).id()).isEqualTo("mariadb");
        assertThat(Dialects.of("H2", "2.4.240 (2025-09-22)", false).id()).isEqualTo("h2");
    }

    @Test
    void mariadb_is_known_also_through_the_driver_of_mysql() {
        assertThat(Dialects.of("MySQL", "5.5.5-10.6.16-MariaDB-log", false).id())
                .isEqualTo("mariadb");
    }

    @Test
    void an_unknown_or_old_database_is_an_error_and_no_guess() {
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> Dialects.of("Oracle", "23ai", false))
                .withMessageContainingAll("Oracle", "23ai");
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> Dialects.of("MySQL", "5.7.44", false))
                .withMessageContainingAll("MySQL 8", "5.7.44");
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> Dialects.of("H2", "1.4.200", false))
                .withMessageContainingAll("H2 2", "1.4.200");
    }

    @Test
    void a_version_may_have_any_number_of_digits() {
        assertThat(Dialects.of("PostgreSQL", "20261118000000000000.1", false).id())
                .isEqualTo("postgresql");
        assertThat(Dialects.of("MySQL", "8.0.99999999999", false).id()).isEqualTo("mysql");
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> Dialects.of("MySQL", "5.99999999999.1", false))
                .withMessageContaining("5.99999999999.1");
    }

    @Test
    void only_h2_may_forget_its_tables() {
        assertThat(Dialects.of("H2", "2.4.240", false).ifTablesAreGone()).contains("DB_CLOSE_DELAY");
        assertThat(Dialects.of("PostgreSQL", "18.1", false).ifTablesAreGone()).isEmpty();
        assertThat(Dialects.of("MySQL", "8.0.33", false).ifTablesAreGone()).isEmpty();
        assertThat(Dialects.of("MariaDB", "11.4.5", false).ifTablesAreGone()).isEmpty();
    }

    @Test
    void sessions_without_auto_commit_at_serializable_read_as_of_read_committed() {
        assertThat(Dialects.of("MySQL", "8.0.33", true).beforeTransaction().orElseThrow())
                .contains("READ COMMITTED");
        assertThat(Dialects.of("MariaDB", "11.4.5", true).beforeTransaction().orElseThrow())
                .contains("READ COMMITTED");
        assertThat(Dialects.of("MySQL", "8.0.33", false).beforeTransaction()).isEmpty();
        assertThat(Dialects.of("PostgreSQL", "18.1", true).beforeTransaction()).isEmpty();
    }

    @Test
    void session_whose_autocommit_the_driver_does_not_know_is_unfit() {
        for (String version : new String[] {"8.0.33", "11.4.5-MariaDB"}) {
            Dialect dialect = Dialects.of("MySQL", version, false);
            assertThat(dialect.unfit(autoCommit("ON", "OFF"))).contains("autocommit is OFF");
            assertThat(dialect.unfit(autoCommit("OFF", "ON"))).contains("autocommit is ON");
            assertThat(dialect.unfit(autoCommit("ON", "ON"))).isNull();
            assertThat(dialect.unfit(autoCommit("OFF", "OFF"))).isNull();
        }
    }

    @Test
    void session_is_serializable_by_its_isolation_level_and_by_no_other_fact() {
        Dialect dialect = Dialects.of("MySQL", "8.0.33", false);
        assertThat(dialect.unfit(chained("transaction_isolation", "READ-COMMITTED")))
                .isNull();
        assertThat(dialect.unfit(chained("transaction_isolation", "SERIALIZABLE")))
                .contains("completion_type");
        assertThat(dialect.unfit(chained("tx_isolation", "SERIALIZABLE"))).contains("completion_type");
        assertThat(dialect.unfit(chained("version_comment", "SERIALIZABLE"))).isNull();
    }

    private static Map<String, String> chained(String name, String value) {
        return Map.of(Dialect.DRIVERS_AUTO_COMMIT, "OFF", "completion_type", "CHAIN", name, value);
    }

    private static Map<String, String> autoCommit(String driver, String server) {
        return Map.of(Dialect.DRIVERS_AUTO_COMMIT, driver, "autocommit", server);
    }
}
