// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockName;
import io.bitjang.internal.time.Deadline;
import java.util.List;

/**
 * Knows whether those who wait were promised just now to be woken: then they need not look at the table. Not thread-safe.
 */
final class SimPromised implements WakeUps {

    private final SimWorld world;
    private final WakeUps source;

    /** The step in which a queue that is about to choose when to look again was promised nothing. */
    private long unpromised = -1;

    SimPromised(SimWorld world, WakeUps source) {
        this.world = world;
        this.source = source;
    }

    @Override
    public boolean want(List<LockName> names) {
        unpromised = world.steps;
        return source.want(names);
    }

    @Override
    public boolean willRing(List<LockName> names, long since) {
        boolean rings = source.willRing(names, since);
        unpromised = rings ? -1 : unpromised;
        return rings;
    }

    /** Tells whether whoever chooses now when to look again was promised to be woken, by the server or by a holder in its process. */
    boolean promised() {
        boolean promised = unpromised != world.steps;
        unpromised = -1;
        return promised;
    }

    @Override
    public boolean keepsOrder(List<LockName> names) {
        return source.keepsOrder(names);
    }

    @Override
    public boolean isBehind(List<LockName> names) {
        return source.isBehind(names);
    }

    @Override
    public void giveUpIfSilent() {
        source.giveUpIfSilent();
    }

    @Override
    public void freed(List<LockName> names) {
        source.freed(names);
    }

    @Override
    public void close(Deadline end) {
        source.close(end);
    }
}
