// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.internal;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Consumer;
import org.springframework.core.Ordered;
import org.springframework.transaction.support.TransactionSynchronization;

/**
 * The locks that a transaction has guarded itself with, until it has ended. What begins on its thread meanwhile relies on that guard,
 * because one of its own would wait for this transaction. It is the first to hear of the end: what begins in a listener after the
 * commit has no guard to rely on any more. Belongs to the transaction's thread.
 */
final class Pins implements TransactionSynchronization {

    private final Set<Holding> pinned = new LinkedHashSet<>();

    void add(Holding holding) {
        pinned.add(holding);
        holding.pinned(true);
    }

    void forEach(Consumer<Holding> action) {
        pinned.forEach(action);
    }

    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE;
    }

    @Override
    public void afterCommit() {
        end();
    }

    /** After a rollback there was no {@link #afterCommit}. */
    @Override
    public void afterCompletion(int status) {
        end();
    }

    private void end() {
        pinned.forEach(holding -> holding.pinned(false));
        pinned.clear();
    }
}
