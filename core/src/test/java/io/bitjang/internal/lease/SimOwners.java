// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockName;
import io.bitjang.internal.sql.ClaimResult;
import io.bitjang.internal.sql.SimTable;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Owners in the simulated world who take a lock, take it again, which is granted under the same lock id, and give it back; one in
 * each process. Not thread-safe.
 */
final class SimOwners {

    static final LockName NAME = LockName.of("owned", "c");

    /** What an owner was granted last, and until when. */
    private record Grant(String secret, long until) {}

    private final SimWorld world;
    private final Map<SimProcess, Grant> grants = new HashMap<>();

    SimOwners(SimWorld world) {
        this.world = world;
    }

    void act(SimProcess process) {
        if (!world.live || process.closed) {
            return;
        }
        String owner = "owner-" + process.number;
        world.log(process, () -> "wants to own " + NAME);
        Request request = new Request(owner, world.kind.lease(), null, owner, null, null, false);
        process.run(process.engine
                .grants
                .attempt(List.of(NAME), request, 0)
                .ended((outcome, failure) -> attempted(process, outcome, failure)));
    }

    private void attempted(SimProcess process, Grants.@Nullable Outcome outcome, @Nullable Throwable failure) {
        if (outcome == null || !outcome.answer().granted()) {
            // whoever was told that nothing is known takes it again at once
            again(process, failure != null ? 2 : 20);
            return;
        }
        ClaimResult answer = outcome.answer();
        world.log(process, () -> "owns " + NAME + " #" + answer.fence() + (answer.reentered() ? " again" : ""));
        long until = outcome.sentAt().ticks() + world.kind.lease().toNanos();
        grants.put(process, new Grant(answer.grantedSecret(), until));
        if (world.choices.onceIn(2)) {
            again(process, 5);
        } else {
            world.at(world.choices.below(10) * 10_000_000L, process, () -> unlock(process));
        }
    }

    private void again(SimProcess process, int most) {
        world.at((1 + world.choices.below(most)) * 20_000_000L, process, () -> act(process));
    }

    private void unlock(SimProcess process) {
        @Nullable Grant grant = grants.remove(process);
        if (grant != null) {
            world.log(process, () -> "owns " + NAME + " no more");
            process.run(process.store
                    .release(NAME, grant.secret, false)
                    // an unlock without an answer may still be on its way, and would free what is taken again
                    .ended((released, failure) -> world.at(1_000_000_000L, process, () -> act(process))));
        }
    }

    /** Whoever was granted the lock has it until its time is over or it is given back. */
    void check() {
        if (grants.isEmpty()) {
            return;
        }
        SimTable.@Nullable Row row = world.table.row(NAME);
        grants.forEach((process, grant) -> {
            boolean believes = !process.dead && !process.hasSlept() && grant.until - process.ticker.now() > 0;
            if (believes && (row == null || !grant.secret.equals(row.lockId) || !world.table.isHeld(row))) {
                world.broken(
                        NAME + " was granted to the owner in node-" + process.number + ", who has not got it", null);
            }
        });
    }
}
