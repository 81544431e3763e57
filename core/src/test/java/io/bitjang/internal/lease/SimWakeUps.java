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

    /** The step in which a queue that is about to choose when to look again was promised nothing. */
    private long unpromised = -1;

    SimWakeUps(SimProcess process, Sleepers sleepers) {
        this.process = process;
        this.sleepers = sleepers;
        // whoever begins to listen may miss a word that comes just before, and looks at the table a while later
        this.listening = process.world.kind.calm();
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
            });
        }
        return false;
    }

    @Override
    public boolean willRing(List<LockName> names) {
        unpromised = listening ? -1 : unpromised;
        return listening;
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

    /** The server has told that a lock was freed. */
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
