// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import io.bitjang.LockId;
import io.bitjang.spi.LockEvent;
import io.bitjang.spi.LockListener;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Tells the listeners of locks that were released with a transaction, once it has committed. Thread-safe. */
final class ReleaseEvents {

    private static final Log LOG = LogFactory.getLog(ReleaseEvents.class);

    private final List<LockListener> listeners;

    ReleaseEvents(List<LockListener> listeners) {
        this.listeners = listeners;
    }

    /** This lock is free with the commit of the transaction that this thread is in. */
    void withCommit(LockId lockId) {
        if (!listeners.isEmpty() && TransactionSynchronizationManager.isSynchronizationActive()) {
            LockEvent event = new LockEvent(LockEvent.Kind.RELEASED, lockId.name(), lockId.fence(), null, null);
            TransactionSynchronizationManager.registerSynchronization(new Telling(event));
        }
    }

    private void tell(LockEvent event) {
        for (LockListener listener : listeners) {
            try {
                listener.on(event);
            } catch (RuntimeException e) {
                LOG.warn("A listener failed when it was told that " + event.name() + " is free", e);
            }
        }
    }

    /** Of one release, on the thread of its transaction. */
    private final class Telling implements TransactionSynchronization {

        private final LockEvent event;
        private final Set<Object> later = new HashSet<>();
        private boolean undone;

        Telling(LockEvent event) {
            this.event = event;
        }

        @Override
        public void savepoint(Object savepoint) {
            later.add(savepoint);
        }

        /** Back to before the release: the lock is held again. */
        @Override
        public void savepointRollback(Object savepoint) {
            undone |= !later.contains(savepoint);
        }

        @Override
        public void afterCommit() {
            if (!undone) {
                tell(event);
            }
        }
    }
}
