// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.internal;

import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A call that runs under a lock, inside those that its thread runs already. Belongs to its thread, but for {@link #end}. */
final class Scope {

    private final LockScopes scopes;
    private final @Nullable Scope outer;
    private final Holding holding;
    private boolean bound = true;

    Scope(LockScopes scopes, @Nullable Scope outer, Holding holding) {
        this.scopes = scopes;
        this.outer = outer;
        this.holding = holding;
    }

    @Nullable
    Holding find(LockRequest request) {
        if (holding.isOf(request)) {
            return holding;
        }
        return outer == null ? null : outer.find(request);
    }

    /** The locks of this call and those around it. */
    Set<Holding> holdings() {
        Set<Holding> all = outer == null ? new LinkedHashSet<>() : outer.holdings();
        all.add(holding);
        return all;
    }

    /** The thread goes on without the lock, which is held until {@link #end}. */
    void leaveThread() {
        if (bound) {
            bound = false;
            scopes.bind(outer);
        }
    }

    /** The call has ended on this thread. */
    void end(@Nullable Throwable failure) {
        leaveThread();
        holding.leave(failure);
    }

    /** What the call has begun has ended, on whichever thread. */
    void endElsewhere(@Nullable Throwable failure) {
        holding.leave(failure);
    }
}
