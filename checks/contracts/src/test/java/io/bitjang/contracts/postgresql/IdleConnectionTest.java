// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.postgresql;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.testkit.CountingDataSource;
import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.OnLocks;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A connection that carries no session lock any more goes back to its pool. It takes half a minute, so one database is enough. */
@OnDatabase("postgresql")
class IdleConnectionTest extends OnLocks {

    @Test
    void a_connection_goes_back_when_nothing_was_on_it_for_half_a_minute_and_the_next_lock_opens_another()
            throws Exception {
        CountingDataSource source = new CountingDataSource(pool);
        Locks node = closing(Locks.builder(source).notifications(false).build());
        node.session(name("a")).run(Wait.none(), () -> {});
        int kept = source.open();

        long deadline = System.nanoTime() + Duration.ofSeconds(90).toNanos();
        while (source.open() > 0) {
            assertThat(System.nanoTime()).as("given back").isLessThan(deadline);
            TimeUnit.MILLISECONDS.sleep(50);
        }

        assertThat(kept).isEqualTo(1);
        assertThat(node.session(name("a")).tryRun(() -> {})).isTrue();
        assertThat(source.open()).isEqualTo(1);
    }
}
