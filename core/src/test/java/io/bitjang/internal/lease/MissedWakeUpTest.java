// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockName;
import io.bitjang.Wait;
import io.bitjang.internal.dialect.Dialects;
import io.bitjang.internal.sql.Database;
import io.bitjang.internal.sql.GrantKey;
import io.bitjang.internal.sql.LockStore;
import io.bitjang.internal.sql.Tables;
import io.bitjang.internal.time.Deadline;
import io.bitjang.internal.time.Ticker;
import io.bitjang.internal.work.Events;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** A process that begins to listen may have missed a word, and does not rely on one. */
class MissedWakeUpTest extends OnEngine {

    /** A process that was promised to be woken looks this seldom. */
    private static final Duration SELDOM = Duration.ofMillis(500);

    private volatile boolean listening;

    @Test
    void one_who_began_to_listen_after_its_look_soon_looks_again() throws Exception {
        LeaseEngine mine = engine();
        closing(() -> mine.close(Ticker.SYSTEM.in(Duration.ofSeconds(2))));
        other.lease(JOB).acquire(Wait.none());

        // a machine that stands still for a moment looks late for that reason: not each time
        eventually("it looks again soon", () -> {
            listening = false;
            set("wanted = 0", JOB);
            AtomicLong marked = new AtomicLong();
            AtomicLong looked = new AtomicLong();
            seen.after(sql -> {
                if (sql.contains("c.wanted = 0")) {
                    // the word that it is free came in between
                    listening = true;
                    marked.compareAndSet(0, System.nanoTime());
                } else if (marked.get() > 0) {
                    looked.compareAndSet(0, System.nanoTime());
                }
            });
            Job<Object> waits = start(() -> mine.acquire(List.of(JOB), request(), Wait.forever()));
            eventually("it looked", () -> looked.get() > 0);
            waits.interrupt();
            seen.after(sql -> {});
            return looked.get() - marked.get() < SELDOM.toNanos();
        });
    }

    private LeaseEngine engine() {
        Database database = new Database(seen.dataSource(), Dialects.detect(seen.dataSource()), Ticker.SYSTEM);
        LockStore store =
                new LockStore(database.dialect(), new Tables(null, "bitjang_"), workers.ticker(), GrantKey::newSecret);
        return new LeaseEngine(
                new Instance(
                        new WorkerDriver(database, workers), store, workers, new Events(List.of()), new Lifetime()),
                store.guard(database),
                new Settings("mine", LONG, LONG, false, true),
                sleepers -> new Late());
    }

    /** Listens from a moment on that the test chooses. */
    private final class Late implements WakeUps {

        @Override
        public boolean want(List<LockName> names) {
            return false;
        }

        @Override
        public boolean willRing(List<LockName> names) {
            return listening;
        }

        @Override
        public void close(Deadline end) {}
    }
}
