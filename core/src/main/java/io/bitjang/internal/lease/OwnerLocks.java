// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.DistLock;
import io.bitjang.LockName;
import io.bitjang.NoLockException;
import io.bitjang.internal.sql.Answer;
import io.bitjang.internal.sql.GrantKey;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Locks by owner over the engine. It remembers the lock id of each, so that unlock frees what was taken here. Thread-safe. */
public final class OwnerLocks implements DistLock {

    private record Taken(LockName name, String owner) {}

    private final LeaseEngine engine;
    private final Map<Taken, GrantKey> taken = new ConcurrentHashMap<>();

    /** Over this engine. */
    public OwnerLocks(LeaseEngine engine) {
        this.engine = engine;
    }

    @Override
    public boolean tryLock(String name, String owner, Duration duration) {
        LockName lock = LockName.of(TYPE, name);
        Request request = new Request(
                Limits.owner(owner), Limits.duration("duration of a lock", duration), null, owner, null, null, false);
        Answer answer = engine.attempt(List.of(lock), request, 0).answer();
        if (answer.granted()) {
            taken.put(new Taken(lock, owner), new GrantKey(lock, answer.fence(), answer.grantedSecret()));
        }
        return answer.granted();
    }

    @Override
    public void unlock(String name, String owner) {
        engine.requireOpen();
        LockName lock = LockName.of(TYPE, name);
        Taken mine = new Taken(lock, Limits.owner(owner));
        GrantKey key = taken.get(mine);
        if (key == null) {
            throw new NoLockException(lock, owner + " did not take " + name + " here", null);
        }
        try {
            engine.releases.releaseNow(key, owner);
            taken.remove(mine, key);
        } catch (NoLockException e) {
            taken.remove(mine, key);
            throw e;
        }
    }
}
