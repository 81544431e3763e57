// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.integration;

import io.bitjang.Lease;
import io.bitjang.LockName;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * What the threads of this process have, and nothing else. The thread belongs to the key: one that has lost its lock and does not
 * know it yet must not be taken for the next that has it. Each thread changes its own entries only. Thread-safe.
 */
final class Holds {

    /**
     * What a thread has.
     *
     * @param lease the lease
     * @param margin what must be left of it for an inner lock
     * @param count how often the thread has taken it
     */
    record Hold(Lease lease, Duration margin, int count) {

        Hold counting(int change) {
            return new Hold(lease, margin, count + change);
        }
    }

    private record Key(LockName name, Thread thread) {}

    private final ConcurrentMap<Key, Hold> held = new ConcurrentHashMap<>();

    @Nullable
    Hold mine(LockName name) {
        return held.get(new Key(name, Thread.currentThread()));
    }

    void put(LockName name, Hold hold) {
        Key key = new Key(name, Thread.currentThread());
        if (hold.count == 0) {
            held.remove(key);
        } else {
            held.put(key, hold);
        }
    }

    int size() {
        return held.size();
    }
}
