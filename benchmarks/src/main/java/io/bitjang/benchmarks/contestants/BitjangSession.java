// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.contestants;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.Locks;
import io.bitjang.SessionLock;
import io.bitjang.benchmarks.places.Place;
import org.jspecify.annotations.Nullable;

/** {@code locks.session(name)}. */
final class BitjangSession implements Contestant {

    private final HikariDataSource pool;
    private final Locks locks;

    BitjangSession(Place place) {
        this.pool = place.pool();
        this.locks = Locks.create(pool);
    }

    @Override
    public Section section(String name) {
        SessionLock lock = locks.session(name);
        return new Section() {
            private SessionLock.@Nullable Hold hold;

            @Override
            public void enter() {
                // a free lock is taken on this very thread; waiting for one that is taken involves others
                hold = lock.tryAcquire().orElseGet(() -> lock.acquire(BitjangLease.PATIENCE));
            }

            @Override
            public void leave() {
                if (hold != null) {
                    hold.close();
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
