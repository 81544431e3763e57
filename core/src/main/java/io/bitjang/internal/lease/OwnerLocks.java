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

    /**
     * A lock that was taken here.
     *
     * @param leaving whether an unlock got no answer: it may be freed at any moment, and must not be entered again
     */
    private record Grant(GrantKey key, Deadline end, boolean leaving) {}

    private final LeaseEngine engine;
    private final Map<Taken, Grant> taken = new ConcurrentHashMap<>();

    /** Makes locks by owner over this engine. */
    public OwnerLocks(LeaseEngine engine) {
        this.engine = engine;
    }

    @Override
    public boolean tryLock(String name, String owner, Duration duration) {
        LockName lock = LockName.of(TYPE, name);
        Taken mine = new Taken(lock, Limits.owner(owner));
        Request request = new Request(
                mine.owner, Limits.duration("duration of a lock", duration), null, mine.owner, null, null, false);
        leave(mine);
        ClaimResult answer =
                engine.run(engine.grants.attempt(List.of(lock), request, 0)).answer();
        if (answer.granted()) {
            remember(mine, answer, engine.instance.ticker.in(duration));
        }
        return answer.granted();
    }

    /** Ends an unlock whose answer never came, if there was one: whoever locks now gets another grant, which it can't free. */
    private void leave(Taken mine) {
        Grant grant = taken.get(mine);
        if (grant != null && grant.leaving) {
            try {
                release(mine, grant);
            } catch (NoLockException e) {
                // freed before, as was wanted
            }
        }
    }

    /** Remembers a lock that was taken here. When there are many, those that have ended without an unlock are forgotten. */
    private void remember(Taken mine, ClaimResult answer, Deadline end) {
        if (taken.size() >= MANY) {
            taken.values().removeIf(grant -> grant.end.passed());
        }
        Grant grant = new Grant(new GrantKey(mine.name, answer.fence(), answer.grantedSecret()), end, false);
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
        release(mine, grant);
    }

    private void release(Taken mine, Grant grant) {
        Grant leaving = new Grant(grant.key, grant.end, true);
        boolean known = false;
        try {
            engine.run(engine.releases.releaseNow(grant.key, mine.owner, () -> taken.replace(mine, grant, leaving)));
            known = true;
        } catch (NoLockException e) {
            known = true;
            throw e;
        } finally {
            if (known) {
                taken.remove(mine, grant);
                taken.remove(mine, leaving);
            }
        }
    }
}
