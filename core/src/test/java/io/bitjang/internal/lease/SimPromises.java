// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.Lease;
import io.bitjang.LockName;
import io.bitjang.internal.sql.SimRows;
import io.bitjang.internal.sql.SimTable;
import io.bitjang.spi.LockEvent;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What must hold after every step in the simulated world. Not thread-safe. */
final class SimPromises implements SimRows.Observer {

    /** How late the end of a lease may be noticed. */
    private static final long NOTICED = 50_000_000L;

    /** How long after its instance was closed somebody may wait. */
    private static final long CLOSED = 500_000_000L;

    /** How long after its grant the table may not know who has a lock that passes on, in microseconds. */
    private static final long SETTLED = 1_000_000L;

    /** When those who wait look at a lock, though they were promised to be woken. */
    private static final long NOTIFIED_POLL = 500_000_000L;

    /** Since when something is so with a lock that must not be so for long. */
    private static final class Spell {
        final LockName name;

        long idleSince = -1;

        @Nullable
        String orphan;

        long orphanSince;

        Spell(LockName name) {
            this.name = name;
        }
    }

    private final SimWorld world;
    private final List<Spell> spells = SimWorld.NAMES.stream().map(Spell::new).toList();
    private final Map<LockName, Long> largestFence = new HashMap<>();
    private final Map<String, Integer> lostTold = new HashMap<>();
    private final Set<String> fences = new HashSet<>();
    private final Set<String> takenAway = new HashSet<>();

    SimPromises(SimWorld world) {
        this.world = world;
    }

    /** A grant that an operator takes away: its holder may believe in it for a while. */
    void mayBeTakenAway(String secret) {
        takenAway.add(secret);
    }

    @Override
    public void changed(LockName name, SimTable.@Nullable Row before, SimTable.Row after) {
        world.log(
                null,
                () -> name + (after.lockId == null ? " is free" : " is " + after.lockId + "'s") + " #" + after.fence
                        + "+" + after.reserved + " until " + after.expiresAt + (after.wanted == 0 ? "" : ", wanted"));
        if (before != null
                && after.reserved < before.reserved
                && after.lockId != null
                && after.lockId.equals(before.lockId)) {
            // the fences that were set aside and not used are free again
            largestFence.put(name, after.fence);
        }
        boolean granted = after.lockId != null && (before == null || !after.lockId.equals(before.lockId));
        if (granted) {
            long largest = largestFence.getOrDefault(name, 0L);
            if (after.fence <= largest) {
                world.broken(name + " was granted with fence " + after.fence + " after " + largest, null);
            }
            largestFence.put(name, Math.max(largest, after.fence + after.reserved));
            if (before != null && before.lockId != null && before.wanted != 0 && after.wanted == 0) {
                // the process that is marked has it now: the others don't hear of its release
                foundElsewhere(name, world.processOf(after.lockId));
            }
        }
    }

    /** Those who wait elsewhere were promised to be woken, but are not: they look at the table, seldom. */
    private void foundElsewhere(LockName name, SimProcess by) {
        for (SimProcess process : world.processes) {
            if (process != by) {
                world.at(NOTIFIED_POLL, process, () -> process.wakeUps.ring(name));
            }
        }
    }

    @Override
    public void freed(LockName name, boolean rings) {
        for (SimProcess process : world.processes) {
            if (rings && !(world.faults && world.choices.onceIn(10))) {
                process.wakeUps.tell(name);
            }
        }
    }

    void told(SimProcess process, LockEvent event) {
        world.log(process, () -> event.kind() + " " + event.name() + " #" + event.fence());
        String which = event.name() + " #" + event.fence();
        boolean grant = event.kind() == LockEvent.Kind.ACQUIRED
                || event.kind() == LockEvent.Kind.TAKEN_OVER
                || event.kind() == LockEvent.Kind.HANDED_OVER;
        if (grant && !fences.add(which)) {
            world.broken("a fence was given twice: " + event, null);
        }
        if (event.kind() == LockEvent.Kind.LOST && lostTold.merge(process.number + " " + which, 1, Integer::sum) > 1) {
            world.broken("LOST was told twice: " + event, null);
        }
    }

    void check() {
        if (world.anyClosed) {
            world.people.waiting.forEach(this::check);
        }
        for (SimPeople.Held each : world.people.held) {
            check(each);
        }
        for (Spell spell : spells) {
            SimTable.@Nullable Row row = world.table.row(spell.name);
            boolean locked = world.table.isLocked(spell.name);
            boolean held = row != null && world.table.isHeld(row);
            idle(spell, !held && !locked && !world.gates.keptByFormerHolder(spell.name));
            orphaned(spell, held && !locked ? row.lockId : null);
        }
    }

    private void check(SimPeople.Waiting each) {
        if (each.process.closedFor(CLOSED)) {
            world.broken("node-" + each.process.number + " is closed, and somebody still waits in it", null);
        }
    }

    private void check(SimPeople.Held each) {
        LeaseHandle lease = each.lease;
        SimProcess process = each.process;
        if (process.isFrozen() || !lease.active()) {
            return;
        }
        long late = process.ticker.now() - lease.deadline();
        if (late >= 0) {
            if (late > NOTICED && process.thawedFor(NOTICED) && !process.closed) {
                world.broken("nobody noticed that " + lease + " has ended", null);
            }
            return;
        }
        for (LockName name : lease.names()) {
            @Nullable String wrong = wrong(lease, name, world.table.row(name));
            if (wrong != null
                    && !lease.mayHaveSlept()
                    && !takenAway.contains(lease.key().secret())) {
                world.broken(wrong, null);
            }
        }
    }

    /** Says what is wrong with a row whose lock is believed to be held; null if nothing is. */
    private @Nullable String wrong(LeaseHandle lease, LockName name, SimTable.@Nullable Row row) {
        if (row == null || !lease.key().secret().equals(row.lockId) || row.expiresAt <= world.table.clock) {
            return lease + " is believed to be held, but the table says otherwise of " + name;
        }
        if (lease.fence() < row.fence || lease.fence() > row.fence + row.reserved) {
            return lease + " has a fence that was never set aside for it in " + name;
        }
        return world.kind.calm() && row.reserved > 0 && world.table.clock - row.acquiredAt > SETTLED
                ? "the table was never told that " + lease + " has " + name
                : null;
    }

    /** Nobody who waits is left out when the lock can be had. */
    private void idle(Spell spell, boolean idle) {
        if (!world.kind.calm()) {
            return;
        }
        if (!idle) {
            spell.idleSince = -1;
            return;
        }
        if (spell.idleSince < 0) {
            spell.idleSince = world.now;
        }
        long since = world.now - world.kind.idle();
        if (spell.idleSince > since) {
            return;
        }
        for (SimPeople.Waiting each : world.people.waiting) {
            if (each.since < since
                    && each.names.contains(spell.name)
                    && !each.process.closed
                    && isForgotten(each, since)) {
                world.broken(
                        each.names + " could be had for long, and node-" + each.process.number + " waits for it", null);
            }
        }
    }

    private boolean isForgotten(SimPeople.Waiting waiting, long since) {
        for (Spell spell : spells) {
            // whoever waits for a holder in the same process waits until that one hears that the lock was taken away
            if (waiting.names.contains(spell.name)
                    && (spell.idleSince < 0
                            || spell.idleSince >= since
                            || world.people.believes(waiting.process, spell.name))) {
                return false;
            }
        }
        return true;
    }

    /** A grant that nobody has does not stay in the table, while its process lives. */
    private void orphaned(Spell spell, @Nullable String secret) {
        if (secret == null || world.people.has(secret)) {
            spell.orphan = null;
            return;
        }
        SimProcess process = world.processOf(secret);
        if (!secret.equals(spell.orphan)
                || process.dead
                || !process.thawedFor(world.kind.orphaned())
                || process.closed && !world.kind.calm()) {
            spell.orphan = secret;
            spell.orphanSince = world.now;
        } else if (world.now - spell.orphanSince > world.kind.orphaned()) {
            world.broken(spell.name + " is kept by a grant that nobody has, of node-" + process.number, null);
        }
    }

    /** A lease has ended for whoever had it. */
    void ended(SimProcess process, LeaseHandle lease) {
        if (lease.state() != Lease.State.LOST) {
            return;
        }
        if (world.kind.calm() && !takenAway.contains(lease.key().secret())) {
            world.broken(lease + " was lost without a reason: " + lease.lostBecause(), null);
        }
        // the listeners may be told a moment later
        world.at(1_000_000_000L, process, () -> {
            if (!lostTold.containsKey(process.number + " " + lease.name() + " #" + lease.fence()) && !process.closed) {
                world.broken("nobody was told that " + lease + " was lost", null);
            }
        });
    }

    /** Says what is left of the leases when nobody has one any more and nobody waits; null if nothing is. */
    @Nullable
    String leftOver() {
        for (LockName name : SimWorld.NAMES) {
            SimTable.@Nullable Row row = world.table.row(name);
            if (row != null && lasts(row) && mustEnd(world.processOf(String.valueOf(row.lockId)))) {
                return name + " is still taken";
            }
            if (world.table.isLocked(name)) {
                return name + " is still locked by a transaction";
            }
        }
        for (SimProcess process : world.processes) {
            if (!process.dead && !process.closed) {
                if (!process.engine.here().isEmpty()) {
                    return "node-" + process.number + " still has " + process.engine.here();
                }
                if (!process.engine.held.all().isEmpty()) {
                    return "node-" + process.number + " still renews " + process.engine.held.all();
                }
                if (process.asked > 0) {
                    return "node-" + process.number + " still waits for " + process.asked + " answers";
                }
            }
        }
        return null;
    }

    /** Tells whether a lock is held, and not only because the server's clock has stepped back: nobody tries to release it that long. */
    private boolean lasts(SimTable.Row row) {
        return row.lockId != null && row.expiresAt > world.table.clock + world.steppedBack;
    }

    /** A process that has died gives nothing back; one that was closed, in a rough world, names what it could not. */
    private boolean mustEnd(SimProcess process) {
        return !process.dead && (!process.closed || world.kind.calm());
    }
}
