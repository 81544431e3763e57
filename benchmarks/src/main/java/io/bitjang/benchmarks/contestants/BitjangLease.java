// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.contestants;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.Lease;
import io.bitjang.LeaseLock;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.benchmarks.places.Place;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** {@code locks.lease(name)}. */
final class BitjangLease implements Contestant {

    static final Wait PATIENCE = Wait.upTo(Duration.ofMinutes(2));

    private final HikariDataSource pool;
    private final Locks locks;

    BitjangLease(Place place) {
        this.pool = place.pool();
        this.locks = Locks.create(pool);
    }

    @Override
    public Section section(String name) {
        LeaseLock lock = locks.lease(name);
        return new Section() {
            private @Nullable Lease lease;

            @Override
            public void enter() {
                lease = lock.acquire(PATIENCE);
            }

            @Override
            public void leave() {
                if (lease != null) {
                    lease.close();
                }
            }
        };
    }

    @Override
    public void close() {
        locks.close();
        pool.close();
    }
}
