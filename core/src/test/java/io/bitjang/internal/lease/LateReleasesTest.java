// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Lease;
import io.bitjang.OnH2;
import io.bitjang.Wait;
import io.bitjang.admin.LockFilter;
import io.bitjang.spi.LockEvent.Kind;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What could not be given back at once costs little, however much it is. */
class LateReleasesTest extends OnH2 {

    private static final int MANY = 50;

    private List<Lease> leases() {
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            leases.add(node.lease("many" + i).acquire(Wait.none()));
        }
        return leases;
    }

    private boolean allFree() {
        return other.admin().list(LockFilter.held()).isEmpty();
    }

    @Test
    void releases_that_were_put_off_go_together_in_one_statement() throws Exception {
        List<Lease> leases = leases();
        Gate well = gate();
        Thread test = Thread.currentThread();
        seen.before(sql -> {
            if (Thread.currentThread() == test) {
                throw new SQLException("The database is down", "08006");
            }
            well.pass();
        });

        leases.forEach(Lease::close);
        assertThat(told(Kind.RELEASE_FAILED)).isEqualTo(MANY);
        // the first round may have begun with a few of them
        well.untilReached();
        seen.reset();
        well.close();

        eventually("all are free", this::allFree);
        assertThat(seen.statements()).hasSizeLessThanOrEqualTo(3);
    }

    @Test
    void one_round_runs_at_a_time() throws Exception {
        List<Lease> leases = leases();
        Gate hangs = gate();
        Thread test = Thread.currentThread();
        AtomicInteger inside = new AtomicInteger();
        seen.before(sql -> {
            if (Thread.currentThread() == test) {
                throw new SQLException("The database is down", "08006");
            }
            inside.incrementAndGet();
            hangs.pass();
        });

        leases.subList(0, 10).forEach(Lease::close);
        hangs.untilReached();
        for (Lease lease : leases.subList(10, 14)) {
            lease.close();
            // longer than the pause before a round
            TimeUnit.MILLISECONDS.sleep(150);
        }

        assertThat(inside).hasValue(1);
    }
}
