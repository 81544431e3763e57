// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockName;
import io.bitjang.internal.time.Deadline;
import java.util.List;

/**
 * Notifications in the simulated world, which take their time, and in a rough one are lost. It also knows whether those who wait were
 * promised just now to be woken: then they need not look at the table. Not thread-safe.
 */
final class SimWakeUps implements WakeUps {

    private final SimProcess process;
    private final Sleepers sleepers;
    private boolean starting;
    private boolean listening;
    private long began;

    /** The step in which a queue that is about to choose when to look again was promised nothing. */
    private long unpromised = -1;

    SimWakeUps(SimProcess process, Sleepers sleepers) {
        this.process = process;
        this.sleepers = sleepers;
    }

    @Override
    public boolean want(List<LockName> names) {
        SimWorld world = process.world;
        unpromised = world.steps;
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
        boolean rings = listening && began - since <= 0;
        unpromised = rings ? -1 : unpromised;
        return rings;
    }

    @Override
    public void close(Deadline end) {
        listening = false;
        starting = true;
    }

    /** Tells whether whoever chooses now when to look again was promised to be woken, by the server or by a holder in its process. */
    boolean promised() {
        boolean promised = unpromised != process.world.steps;
        unpromised = -1;
        return promised;
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
