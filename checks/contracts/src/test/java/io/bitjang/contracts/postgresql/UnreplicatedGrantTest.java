// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.postgresql;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.LockingFailException;
import io.bitjang.Locks;
import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.OnOwnTables;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A commit whose wait for a standby was cancelled is a success with a warning: the grant may be lost at a failover. */
@OnDatabase("postgresql")
class UnreplicatedGrantTest extends OnOwnTables {

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_grant_that_no_standby_has_confirmed_does_not_count(boolean autoCommit) throws Exception {
        HikariConfig config = new HikariConfig();
        config.setDataSource(database.dataSource());
        config.setMaximumPoolSize(4);
        config.setMinimumIdle(0);
        config.setAutoCommit(autoCommit);
        Locks node = closing(Locks.builder(closing(new HikariDataSource(config)))
                .tablePrefix(prefix())
                .build());
        AtomicBoolean done = new AtomicBoolean();
        setStandbys("SET synchronous_standby_names = 'nobody'");
        CompletableFuture<Void> cancelling = CompletableFuture.runAsync(() -> {
            while (!done.get()) {
                database.execute("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
            }
        });
        try {
            // the server reads its settings again in its own time
            long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
            int order = 1;
            while (isGranted(node, order++)) {
                assertThat(System.nanoTime()).as("still granted").isLessThan(deadline);
            }
        } finally {
            setStandbys("RESET synchronous_standby_names");
            done.set(true);
            cancelling.get(1, TimeUnit.MINUTES);
        }
    }

    private static boolean isGranted(Locks node, int order) {
        try {
            node.manager().tryLock("order", String.valueOf(order), "kim", Duration.ofMinutes(1));
            return true;
        } catch (LockingFailException e) {
            return false;
        }
    }

    private void setStandbys(String how) {
        database.execute("ALTER SYSTEM " + how);
        database.execute("SELECT pg_reload_conf()");
    }
}
