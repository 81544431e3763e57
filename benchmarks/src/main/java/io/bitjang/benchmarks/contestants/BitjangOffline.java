// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.contestants;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.AlreadyLockedException;
import io.bitjang.LockId;
import io.bitjang.Locks;
import io.bitjang.benchmarks.places.Place;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** {@code locks.manager()}: a person's lock, which nobody waits for in line. */
final class BitjangOffline implements Contestant {

    private static final Duration LOCK = Duration.ofSeconds(30);

    private final HikariDataSource pool;
    private final Locks locks;

    BitjangOffline(Place place) {
        this.pool = place.pool();
        this.locks = Locks.create(pool);
    }

    @Override
    public Section section(String name) {
        return new Section() {
            private @Nullable LockId id;

            @Override
            public void enter() throws Exception {
                Polling.until(() -> {
                    try {
                        id = locks.manager().tryLock("bench", name, "me", LOCK);
                        return true;
                    } catch (AlreadyLockedException e) {
                        return false;
                    }
                });
            }

            @Override
            public void leave() {
                if (id != null) {
                    locks.manager().releaseLock(id);
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
