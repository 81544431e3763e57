// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shedlock;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.LockData;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.testkit.TestDatabases;
import java.time.Duration;
import java.util.List;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.test.support.AbstractExtensibleLockProviderIntegrationTest;
import net.javacrumbs.shedlock.test.support.FuzzTester;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** ShedLock's own contract and fuzzer, as ShedLock has published them. */
@ParameterizedClass(name = "{0}")
@MethodSource("databases")
class ShedLockContractTest extends AbstractExtensibleLockProviderIntegrationTest {

    @Parameter
    String databaseName;

    private HikariDataSource pool;
    private Locks locks;

    static List<String> databases() {
        return TestDatabases.selected();
    }

    @BeforeEach
    void start() {
        pool = TestDatabases.byName(databaseName).pool(10);
        locks = Locks.create(pool);
    }

    @AfterEach
    void stop() {
        locks.close();
        pool.close();
    }

    @Override
    protected ExtensibleLockProvider getLockProvider() {
        return new BitjangLockProvider(locks);
    }

    @Override
    protected void assertUnlocked(String lockName) {
        assertThat(held(lockName)).isFalse();
    }

    @Override
    protected void assertLocked(String lockName) {
        assertThat(held(lockName)).isTrue();
    }

    private boolean held(String lockName) {
        return locks.admin()
                .find(LockName.of("shedlock", lockName))
                .map(LockData::held)
                .orElse(false);
    }

    /** The contract runs it with 100 rounds; this is for many more. */
    @Test
    void fuzzer_passes_with_as_many_rounds_as_there_is_time_for() throws Exception {
        int rounds = Boolean.getBoolean("bitjang.soak") ? 5_000 : 20;
        new FuzzTester(getLockProvider(), Duration.ofMillis(1), Duration.ofMinutes(5), rounds).doFuzzTest();
    }
}
