// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.Lease;
import io.bitjang.LockName;
import io.bitjang.NoLockException;
import io.bitjang.Wait;
import io.bitjang.internal.sql.Plan;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Those who want locks in the simulated world, hold them, guard a transaction with them and give them back. Not thread-safe. */
final class SimPeople {

    /** A lease, as whoever got it sees it. */
    static final class Held {
        final SimProcess process;
        final LeaseHandle lease;

        Held(SimProcess process, LeaseHandle lease) {
            this.process = process;
            this.lease = lease;
        }
    }

    /** Somebody who waits. */
    static final class Waiting {
        final SimProcess process;
        final List<LockName> names;
        final long since;

        Waiting(SimProcess process, List<LockName> names, long since) {
            this.process = process;
            this.names = names;
            this.since = since;
        }
    }

    final List<Held> held = new ArrayList<>();
    final List<Waiting> waiting = new ArrayList<>();
    /** Transactions of which their processes have not decided yet what becomes of them. */
    final List<SimWork> working = new ArrayList<>();

    int served;

    private final SimWorld world;

    SimPeople(SimWorld world) {
        this.world = world;
    }

    void act(SimProcess process) {
        if (!world.live || process.closed) {
            return;
        }
        LockName name = SimWorld.NAMES.get(world.choices.onceIn(4) ? 1 : 0);
        Request request = Request.of("node-" + process.number, world.kind.lease(), null);
        request = world.choices.onceIn(3) ? request : request.asUnseen();
        List<LockName> names = world.choices.onceIn(10) ? SimWorld.NAMES : List.of(name);
        Wait wait = world.choices.onceIn(6)
                ? Wait.none()
                : world.choices.onceIn(3)
                        ? Wait.forever()
                        : Wait.upTo(world.kind.calm() ? Duration.ofSeconds(4) : Duration.ofSeconds(2));
        Waiting entry = new Waiting(process, names, world.now);
        waiting.add(entry);
        world.log(process, () -> "wants " + names + " " + wait);
        CompletableFuture<Lease> promise = process.engine.acquireAsync(names, request, wait);
        promise.whenComplete((lease, reason) -> {
            waiting.remove(entry);
            if (lease == null) {
                world.log(process, () -> "did not get " + names + ": " + reason.getMessage());
                again(process);
                return;
            }
            served++;
            Held mine = new Held(process, (LeaseHandle) lease);
            held.add(mine);
            world.log(process, () -> "got " + lease);
            world.at(
                    (world.choices.onceIn(2) ? world.choices.below(8) * 20_000_000L : 1_000_000L)
                            + (world.live && world.choices.onceIn(12)
                                    ? 2 * world.kind.lease().toNanos()
                                    : 0),
                    process,
                    () -> work(mine));
        });
    }

    /** Tells whether somebody has a lease under this secret and believes in it. */
    boolean has(String secret) {
        for (Held each : held) {
            if (each.lease.key().secret().equals(secret) && each.lease.active()) {
                return true;
            }
        }
        return false;
    }

    /** Tells whether somebody in this process believes to have the lock, or did so a moment ago. */
    boolean believes(SimProcess process, LockName name) {
        for (Held each : held) {
            if (each.process == process && each.lease.names().contains(name)) {
                return true;
            }
        }
        return false;
    }

    /** A process has died, and all in it. */
    void died(SimProcess process) {
        held.removeIf(each -> each.process == process);
        List.copyOf(working).forEach(each -> each.died(process));
        waiting.removeIf(each -> each.process == process);
    }

    private void again(SimProcess process) {
        world.at(world.choices.below(10) * 10_000_000L, process, () -> act(process));
    }

    /** A transaction that is guarded, perhaps; then the lease is closed. */
    private void work(Held mine) {
        if (mine.lease.request().unseen() || !world.choices.onceIn(2)) {
            close(mine);
        } else {
            new SimWork(world, mine, () -> close(mine)).begin();
        }
    }

    private void close(Held mine) {
        world.log(mine.process, () -> "closes " + mine.lease);
        held.remove(mine);
        mine.process.run(mine.lease
                .closing()
                .otherwise(e -> e instanceof NoLockException ? Plan.DONE : null)
                .ended((done, failure) -> {
                    world.promises.ended(mine.process, mine.lease);
                    if (failure != null) {
                        world.broken("closing failed with " + failure, failure);
                    }
                }));
        again(mine.process);
    }
}
