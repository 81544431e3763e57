// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.work;

import io.bitjang.LockName;
import io.bitjang.spi.LockEvent;
import io.bitjang.spi.LockListener;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Tells the listeners, and the log for operators. What they throw is logged and reaches nobody. Thread-safe. */
public final class Events {

    private final List<LockListener> listeners;
    private final System.Logger log;

    /** Makes an instance that tells these listeners. */
    public Events(List<LockListener> listeners) {
        this(listeners, System.getLogger("io.bitjang.events"));
    }

    /** Makes an instance that logs there. */
    Events(List<LockListener> listeners, System.Logger log) {
        this.listeners = List.copyOf(listeners);
        this.log = log;
    }

    /** Tells the listeners and the log of an event, once for each of the names. */
    public void tell(
            LockEvent.Kind kind, List<LockName> names, long fence, @Nullable String owner, @Nullable String detail) {
        boolean logged = isLogged();
        if (listeners.isEmpty() && !logged) {
            return;
        }
        for (LockName name : names) {
            LockEvent event = new LockEvent(kind, name, fence, owner, detail);
            if (logged) {
                tell(each -> log.log(System.Logger.Level.DEBUG, each.toString()), event);
            }
            listeners.forEach(listener -> tell(listener, event));
        }
    }

    private boolean isLogged() {
        try {
            return log.isLoggable(System.Logger.Level.DEBUG);
        } catch (Throwable e) {
            // whatever a logger throws goes no further, as in Log
            return false;
        }
    }

    private static void tell(LockListener listener, LockEvent event) {
        try {
            listener.on(event);
        } catch (Throwable e) {
            Log.warn("A lock listener failed on " + event, e);
        }
    }
}
