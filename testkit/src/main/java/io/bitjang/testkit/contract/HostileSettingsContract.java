// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.Locks;
import io.bitjang.testkit.LeakCheck;
import io.bitjang.testkit.TestDatabase;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ArgumentsSource;

/**
 * The same battery under every hostile setting: whatever a pool, a driver, a proxy or an administrator has set on the connections,
 * every operation gives exactly what it promises, or the instance is refused when it is made. {@link HostileSettings} is the table.
 */
@ExtendWith(LeakCheck.class)
@Timeout(180)
public abstract class HostileSettingsContract {

    /** For the databases. */
    protected HostileSettingsContract() {}

    @ParameterizedTest
    @ArgumentsSource(HostileSettings.class)
    void everything_works_as_promised_or_is_refused_at_start(HostileSetting setting, TestDatabase database)
            throws Exception {
        String prefix = "t" + UUID.randomUUID().toString().substring(0, 8) + "_";
        try (HikariDataSource hostile = setting.open(database);
                HikariDataSource plain = HostileSettings.plain(setting, database)) {
            if (setting.refusal() != null) {
                Throwable refused = catchThrowable(() -> node(hostile, prefix).close());
                assertThat(refused).as(setting.toString()).hasMessageContaining(setting.refusal());
                return;
            }
            // the tables, too, are made under the setting
            try (Locks one = node(hostile, prefix);
                    Locks two = node(hostile, prefix);
                    Locks honest = node(plain, prefix)) {
                List<String> flaws =
                        new HostileBattery(List.of(one, two, honest), hostile, plain, prefix + "locks").run();

                assertThat(flaws).as(setting.toString()).isEmpty();
            } finally {
                HostileSettings.drop(plain, prefix);
            }
        }
    }

    private static Locks node(HikariDataSource source, String prefix) {
        return Locks.builder(source).tablePrefix(prefix).audit(true).build();
    }
}
