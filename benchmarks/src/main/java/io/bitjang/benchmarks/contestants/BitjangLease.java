// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.contestants;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.benchmarks.places.Place;
import java.time.Duration;
import java.util.concurrent.locks.Lock;

/** {@code locks.lease(name)}, as a {@link Lock} like the peers'. */
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
        Lock lock = locks.lease(name).asLock();
        return Section.of(lock);
    }

    @Override
    public void close() {
        locks.close();
        pool.close();
    }
}
