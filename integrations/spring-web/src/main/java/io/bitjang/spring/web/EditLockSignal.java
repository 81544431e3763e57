// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import io.bitjang.spi.LockEvent;
import io.bitjang.spi.LockEvent.Kind;
import io.bitjang.spi.LockListener;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Tells the feed that something has changed on this node. A bean of its own without any other, because the locks themselves need
 * their listeners when they are made. Thread-safe.
 */
final class EditLockSignal implements LockListener, Runnable {

    private static final Set<Kind> CHANGES =
            Set.of(Kind.ACQUIRED, Kind.TAKEN_OVER, Kind.HANDED_OVER, Kind.LOST, Kind.RELEASED, Kind.FORCE_RELEASED);

    private final List<Runnable> hearers = new CopyOnWriteArrayList<>();

    void tell(Runnable hearer) {
        hearers.add(hearer);
    }

    @Override
    public void on(LockEvent event) {
        if (CHANGES.contains(event.kind())) {
            run();
        }
    }

    @Override
    public void run() {
        hearers.forEach(Runnable::run);
    }
}
