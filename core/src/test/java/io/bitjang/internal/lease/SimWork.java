// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockException;
import io.bitjang.LockName;
import io.bitjang.NoLockException;
import io.bitjang.internal.sql.SimConnection;
import io.bitjang.internal.sql.SimTable;
import java.sql.Connection;
import org.jspecify.annotations.Nullable;

/**
 * A transaction of the application's in the simulated world, which writes under the guard of a lease. It may be guarded again just
 * before its commit; it is if it was rolled back to a savepoint that is older than the guard. Not thread-safe.
 */
final class SimWork {

    private static final int TRIES = 100;

    private final SimWorld world;
    private final SimPeople.Held mine;
    private final LeaseHandle lease;
    private final SimProcess process;
    private final Runnable close;
    private final SimTable.Transaction transaction;
    private final Connection connection;

    SimWork(SimWorld world, SimPeople.Held mine, Runnable close) {
        this.world = world;
        this.mine = mine;
        this.lease = mine.lease;
        this.process = mine.process;
        this.close = close;
        this.transaction = world.table.begin();
        this.connection = SimConnection.of(world.table, transaction);
    }

    void begin() {
        world.people.working.add(this);
        @Nullable Runnable savepoint = world.choices.onceIn(4) ? transaction.savepoint() : null;
        transaction.writes = true;
        whenGuarded(TRIES, guarded -> {
            if (!guarded) {
                end();
                world.at(0, process, close);
            } else if (savepoint != null) {
                inParts(savepoint);
            } else {
                inOne();
            }
        });
    }

    /** The connection of a process that has died breaks, and what it has not committed is rolled back. */
    void died(SimProcess dead) {
        if (dead == process) {
            end();
        }
    }

    private void end() {
        transaction.rollback();
        world.people.working.remove(this);
    }

    /** Writes, and commits a while later. */
    private void inOne() {
        // a holder may close the lease while its own transaction is open
        boolean early = world.choices.onceIn(3);
        boolean again = world.choices.onceIn(4);
        // the commit is on its way, whatever becomes of the process
        @Nullable SimProcess decides = again ? process : null;
        if (!again) {
            world.people.working.remove(this);
        }
        world.at(late(), decides, () -> {
            if (world.choices.onceIn(5)) {
                end();
            } else if (again) {
                commitGuarded(early);
                return;
            } else {
                commit();
            }
            closeUnless(early);
        });
        if (early) {
            world.at(0, process, close);
        }
    }

    /** Rolls back to before the guard, writes again, and is guarded anew. */
    private void inParts(Runnable savepoint) {
        world.at(late() / 2, process, () -> {
            world.log(process, () -> "goes back to before the guard of " + lease);
            savepoint.run();
            transaction.writes = true;
            world.at(late() / 2, process, () -> commitGuarded(false));
        });
    }

    /** How long a part of it takes; a calm world's transaction keeps no renewal up for long. */
    private long late() {
        long longest =
                world.kind.calm() ? 1_000_000_000L : 2 * world.kind.lease().toNanos();
        return world.live && world.choices.onceIn(6) ? longest : world.choices.below(10) * 5_000_000L;
    }

    private void closeUnless(boolean early) {
        if (!early) {
            world.at(0, process, close);
        }
    }

    private void commitGuarded(boolean early) {
        whenGuarded(TRIES, guarded -> {
            // whoever ignores a guard that has failed has nothing to commit
            if (guarded || world.choices.onceIn(2)) {
                commit();
            }
            end();
            closeUnless(early);
        });
    }

    private interface Next {
        void when(boolean guarded);
    }

    /** Guards when no other transaction has the row; fails if that takes too long. */
    private void whenGuarded(int tries, Next next) {
        if (process.dead) {
            return;
        }
        boolean free = waitsForNobody();
        if (!free && tries > 0) {
            world.at(2_000_000L, process, () -> whenGuarded(tries - 1, next));
            return;
        }
        if (!free) {
            transaction.rollback();
        }
        next.when(free && guard());
    }

    private boolean waitsForNobody() {
        return lease.names().stream()
                .noneMatch(name -> world.table.makesGuardWait(
                        transaction, name, lease.key().secret()));
    }

    private boolean guard() {
        try {
            process.engine.guard(connection, lease);
            world.log(process, () -> "guards " + lease);
            return true;
        } catch (LockException | IllegalStateException e) {
            world.log(process, () -> "can't guard " + lease + ": " + e.getMessage());
            if (e instanceof NoLockException && lease.active()) {
                world.broken("a guard found that " + lease + " is gone, and it is still believed to be held", e);
            }
            return false;
        }
    }

    private void commit() {
        for (LockName name : lease.names()) {
            SimTable.@Nullable Row row = world.table.row(name);
            long fence = lease.fence();
            // its own process may have given it back past the pin, where a pin lets that through: nobody else has it
            boolean own = row != null
                    && (lease.key().secret().equals(row.lockId) || row.lockId == null && row.forced == null)
                    && row.fence <= fence
                    && fence <= row.fence + row.reserved;
            if (transaction.writes && !own) {
                world.broken("a transaction of " + mine.lease + " commits after another's grant", null);
            }
        }
        transaction.commit();
    }
}
