// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockName;
import io.bitjang.internal.time.Deadline;
import java.util.List;

/** Notifications in the simulated world, which take their time, and in a rough one are lost. Not thread-safe. */
final class SimWakeUps implements WakeUps {

    private final SimProcess process;
    private final Sleepers sleepers;
    private boolean starting;
    private boolean listening;
    private long began;

    SimWakeUps(SimProcess process, Sleepers sleepers) {
        this.process = process;
        this.sleepers = sleepers;
    }

    @Override
    public boolean want(List<LockName> names) {
        SimWorld world = process.world;
        if (world.kind.notifies() && !listening && !starting) {
            starting = true;
            world.at(world.network(), process, () -> {
                starting = false;
                listening = true;
                began = process.ticker.now();
            });
        }
        return false;
    }

    @Override
    public boolean willRing(List<LockName> names, long since) {
        return listening && began - since <= 0;
    }

    @Override
    public void close(Deadline end) {
        listening = false;
        starting = true;
    }

    /** The server tells those who listen now that a lock was freed. */
    void tell(LockName name) {
        if (listening) {
            process.world.at(process.world.network(), process, () -> ring(name));
        }
    }

    /** It hears that a lock was freed. */
    void ring(LockName name) {
        if (listening) {
            process.world.log(process, () -> "hears that " + name + " is free");
            sleepers.wake(List.of(name));
        }
    }

    /** The connection breaks. */
    void breakOff() {
        listening = false;
    }
}
