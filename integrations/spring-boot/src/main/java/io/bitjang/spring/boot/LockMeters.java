// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import io.bitjang.LockName;
import io.bitjang.spi.LockEvent;
import io.bitjang.spi.LockListener;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Counts what happens to the locks of this process, and times how long they are held. Names of locks
 * aren't tags: there are too many. Thread-safe.
 */
final class LockMeters implements LockListener {

    /** Beyond so many, a hold is not timed. */
    private static final int MOST = 10_000;

    /** An offline lock that nobody released here is forgotten after this. */
    private static final long FORGOTTEN = TimeUnit.HOURS.toNanos(1);

    /** A session lock and a lease of one name are two locks. */
    private record Key(LockName name, boolean session) {}

    private record Hold(long fence, long since) {}

    private final Map<LockEvent.Kind, Counter> counters = new EnumMap<>(LockEvent.Kind.class);
    private final Map<Key, Hold> holds = new ConcurrentHashMap<>();
    private final Timer held;

    LockMeters(MeterRegistry registry) {
        for (LockEvent.Kind kind : LockEvent.Kind.values()) {
            counters.put(
                    kind,
                    Counter.builder("bitjang.lock.events")
                            .description("What happened to the locks of this process")
                            .tag("event", kind.name().toLowerCase(Locale.ROOT))
                            .register(registry));
        }
        held = Timer.builder("bitjang.lock.hold")
                .description("How long locks were held that this process took and gave back")
                .register(registry);
    }

    @Override
    public void on(LockEvent event) {
        Counter counter = counters.get(event.kind());
        if (counter != null) {
            counter.increment();
        }
        switch (event.kind()) {
            case ACQUIRED, TAKEN_OVER, HANDED_OVER -> began(event);
            case RELEASED, LOST, FORCE_RELEASED -> ended(event);
            default -> {}
        }
    }

    private void began(LockEvent event) {
        long now = System.nanoTime();
        if (holds.size() >= MOST) {
            holds.values().removeIf(hold -> now - hold.since() > FORGOTTEN);
        }
        Hold before = holds.size() < MOST
                ? holds.put(keyOf(event), new Hold(event.fence(), now))
                : holds.remove(keyOf(event));
        if (before != null && event.kind() == LockEvent.Kind.HANDED_OVER) {
            held.record(Duration.ofNanos(now - before.since()));
        }
    }

    private void ended(LockEvent event) {
        Hold hold = holds.get(keyOf(event));
        if (hold != null && hold.fence() == event.fence() && holds.remove(keyOf(event), hold)) {
            held.record(Duration.ofNanos(System.nanoTime() - hold.since()));
        }
    }

    private static Key keyOf(LockEvent event) {
        return new Key(event.name(), event.fence() == 0);
    }
}
