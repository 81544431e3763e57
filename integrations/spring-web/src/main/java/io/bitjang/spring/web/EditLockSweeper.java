// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import io.bitjang.admin.LockAdmin;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Removes the rows of locks that nobody has held for long. A freed lock keeps its row, and people may lock as many things, one
 * after the other, as there are names. At most once an hour, on a thread of its own, and only where locks are taken. Thread-safe.
 */
final class EditLockSweeper {

    private static final long PAUSE = TimeUnit.HOURS.toNanos(1);
    private static final Log LOG = LogFactory.getLog(EditLockSweeper.class);

    private final LockAdmin admin;
    private final Duration idleFor;
    private final AtomicLong due = new AtomicLong(System.nanoTime());

    EditLockSweeper(LockAdmin admin, Duration idleFor) {
        this.admin = admin;
        this.idleFor = idleFor;
    }

    /** A lock was taken: it may be time. */
    void wake() {
        long planned = due.get();
        long now = System.nanoTime();
        if (!idleFor.isZero() && now - planned >= 0 && due.compareAndSet(planned, now + PAUSE)) {
            Thread thread = new Thread(this::sweep, "bitjang-edit-lock-sweep");
            thread.setDaemon(true);
            thread.start();
        }
    }

    private void sweep() {
        try {
            int swept = admin.sweep(idleFor);
            LOG.debug("Removed the rows of " + swept + " locks that nobody has held for " + idleFor);
        } catch (RuntimeException e) {
            LOG.warn("Rows of idle locks could not be removed, and stay for another hour: " + e.getMessage());
        }
    }
}
