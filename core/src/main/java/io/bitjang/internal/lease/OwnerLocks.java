// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.DistLock;
import io.bitjang.LockName;
import io.bitjang.NoLockException;
import io.bitjang.internal.sql.ClaimResult;
import io.bitjang.internal.sql.GrantKey;
import io.bitjang.internal.time.Deadline;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Locks by owner over the engine. It remembers the lock id of each, so that unlock frees what was taken here. Thread-safe. */
public final class OwnerLocks implements DistLock {

    /** How many locks are remembered before those that have ended are forgotten. */
    private static final int MANY = 1000;

    private record Taken(LockName name, String owner) {}

    private record Grant(GrantKey key, Deadline end) {}

    private final LeaseEngine engine;
    private final Map<Taken, Grant> taken = new ConcurrentHashMap<>();

    /** Makes locks by owner over this engine. */
    public OwnerLocks(LeaseEngine engine) {
        this.engine = engine;
    }

    @Override
    public boolean tryLock(String name, String owner, Duration duration) {
        LockName lock = LockName.of(TYPE, name);
        Request request = new Request(
                Limits.owner(owner), Limits.duration("duration of a lock", duration), null, owner, null, null, false);
        ClaimResult answer =
                engine.run(engine.grants.attempt(List.of(lock), request, 0)).answer();
        if (answer.granted()) {
            remember(new Taken(lock, owner), answer, engine.ticker.in(duration));
        }
        return answer.granted();
    }

    /** Remembers a lock that was taken here. When there are many, those that have ended without an unlock are forgotten. */
    private void remember(Taken mine, ClaimResult answer, Deadline end) {
        if (taken.size() >= MANY) {
            taken.values().removeIf(grant -> grant.end.passed());
        }
        Grant grant = new Grant(new GrantKey(mine.name, answer.fence(), answer.grantedSecret()), end);
        // taking it again never shortens it
        taken.merge(
                mine,
                grant,
                (before, now) -> before.key.fence() > now.key.fence()
                                || before.key.equals(now.key) && before.end.remainingNanos() > now.end.remainingNanos()
                        ? before
                        : now);
    }

    @Override
    public void unlock(String name, String owner) {
        engine.requireOpen();
        LockName lock = LockName.of(TYPE, name);
        Taken mine = new Taken(lock, Limits.owner(owner));
        Grant grant = taken.get(mine);
        if (grant == null) {
            throw new NoLockException(lock, owner + " did not take " + name + " here", null);
        }
        try {
            engine.run(engine.releases.releaseNow(grant.key, owner));
            taken.remove(mine, grant);
        } catch (NoLockException e) {
            taken.remove(mine, grant);
            throw e;
        }
    }
}
