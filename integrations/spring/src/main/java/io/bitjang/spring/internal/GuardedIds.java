// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.internal;

import io.bitjang.LockId;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.springframework.transaction.support.TransactionSynchronization;

/**
 * The offline locks that a transaction was guarded with. It is guarded with them again just before its commit: a rollback to a
 * savepoint, an implicit commit or a deadlock may have ended the first guard, and another may have got the lock since. A lock that the
 * transaction has released is nobody's until the commit, unless the release was rolled back. Belongs to the transaction's thread.
 */
final class GuardedIds implements TransactionSynchronization {

    private final Object owner;
    private final Consumer<LockId> guard;
    private final Set<LockId> ids = new LinkedHashSet<>();
    private final Set<LockId> released = new LinkedHashSet<>();
    private final Map<Object, Set<LockId>> releasedBefore = new HashMap<>();

    GuardedIds(Object owner, Consumer<LockId> guard) {
        this.owner = owner;
        this.guard = guard;
    }

    boolean isOf(Object other) {
        return owner == other;
    }

    void guarded(LockId id) {
        ids.add(id);
    }

    void released(LockId id) {
        ids.add(id);
        released.add(id);
    }

    @Override
    public void savepoint(Object savepoint) {
        releasedBefore.put(savepoint, Set.copyOf(released));
    }

    @Override
    public void savepointRollback(Object savepoint) {
        // a savepoint that is older than this has seen no release
        released.retainAll(releasedBefore.getOrDefault(savepoint, Set.of()));
    }

    @Override
    public void beforeCommit(boolean readOnly) {
        ids.stream().filter(id -> !released.contains(id)).forEach(guard);
    }
}
