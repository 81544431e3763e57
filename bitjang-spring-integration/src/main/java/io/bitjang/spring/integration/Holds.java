// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.integration;

import io.bitjang.Lease;
import io.bitjang.LockName;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * What the threads of this process have, and nothing else. The thread belongs to the key: one that has lost its lock and does not
 * know it yet must not be taken for the next that has it. Each thread changes its own entries only. Thread-safe.
 */
final class Holds {

    /** How often this thread has taken it. */
    record Hold(Lease lease, int count) {}

    private record Key(LockName name, Thread thread) {}

    private final ConcurrentMap<Key, Hold> held = new ConcurrentHashMap<>();

    @Nullable
    Hold mine(LockName name) {
        return held.get(new Key(name, Thread.currentThread()));
    }

    void put(LockName name, Lease lease, int count) {
        Key key = new Key(name, Thread.currentThread());
        if (count == 0) {
            held.remove(key);
        } else {
            held.put(key, new Hold(lease, count));
        }
    }

    int size() {
        return held.size();
    }
}
