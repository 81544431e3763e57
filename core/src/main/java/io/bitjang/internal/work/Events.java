// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.work;

import io.bitjang.LockName;
import io.bitjang.spi.LockEvent;
import io.bitjang.spi.LockListener;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Tells the listeners. What they throw is logged and reaches nobody. Thread-safe. */
public final class Events {

    private static final System.Logger LOG = System.getLogger("io.bitjang");

    private final List<LockListener> listeners;

    /** For these. */
    public Events(List<LockListener> listeners) {
        this.listeners = List.copyOf(listeners);
    }

    /** Tells of each of the names. */
    public void tell(
            LockEvent.Kind kind, List<LockName> names, long fence, @Nullable String owner, @Nullable String detail) {
        if (listeners.isEmpty()) {
            return;
        }
        for (LockName name : names) {
            LockEvent event = new LockEvent(kind, name, fence, owner, detail);
            for (LockListener listener : listeners) {
                try {
                    listener.on(event);
                } catch (RuntimeException | Error e) {
                    LOG.log(System.Logger.Level.WARNING, "A lock listener failed on " + event, e);
                }
            }
        }
    }
}
