// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockName;
import io.bitjang.internal.sql.LockRow;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the leases that this process holds: each with the time of its next renewal, and by name. A name may belong to a new lease
 * while the one before it has not been found lost: that one is kept, too, until its holder is told. Thread-safe.
 */
final class HeldLeases {

    private final Map<LeaseHandle, Long> renewals = new ConcurrentHashMap<>();
    private final Map<LockName, LeaseHandle> byName = new ConcurrentHashMap<>();

    void add(LeaseHandle lease, long renewAt) {
        lease.names().forEach(name -> byName.put(name, lease));
        renewals.put(lease, renewAt);
    }

    /** Forgets a lease, and never its successor. */
    void remove(LeaseHandle lease) {
        renewals.remove(lease);
        lease.names().forEach(name -> byName.remove(name, lease));
    }

    /** Sets when to renew a lease next; false if it is not kept any more. */
    boolean renewAt(LeaseHandle lease, long at) {
        return renewals.replace(lease, at) != null;
    }

    /** Returns when to renew a lease next; null if it is not kept any more. */
    @Nullable
    Long renewAt(LeaseHandle lease) {
        return renewals.get(lease);
    }

    /** Returns all leases, each with the time of its next renewal, as they are at the moment. */
    Set<Map.Entry<LeaseHandle, Long>> renewals() {
        return renewals.entrySet();
    }

    List<LeaseHandle> all() {
        return List.copyOf(renewals.keySet());
    }

    Set<LockName> names() {
        return byName.keySet();
    }

    /** Returns the latest lease of this name. */
    @Nullable
    LeaseHandle of(LockName name) {
        return byName.get(name);
    }

    /** Tells whether a lease of this process has just these locks: it will hand them on. */
    boolean holds(List<LockName> names) {
        LeaseHandle lease = of(names.get(0));
        return lease != null && lease.active() && lease.names().equals(names);
    }

    /** Tells whether this row is held by a lease of this process. */
    boolean holds(LockRow row) {
        LeaseHandle lease = of(row.name());
        return lease != null && row.covers(lease.fence());
    }
}
