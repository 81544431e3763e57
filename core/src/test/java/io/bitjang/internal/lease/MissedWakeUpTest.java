// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.LockName;
import io.bitjang.Wait;
import io.bitjang.internal.dialect.Dialects;
import io.bitjang.internal.sql.Database;
import io.bitjang.internal.sql.GrantKey;
import io.bitjang.internal.sql.LockStore;
import io.bitjang.internal.sql.Tables;
import io.bitjang.internal.time.Deadline;
import io.bitjang.internal.time.HandTicker;
import io.bitjang.internal.time.Ticker;
import io.bitjang.internal.work.Events;
import io.bitjang.internal.work.ThreadWorkers;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Who may have missed a word looks at the table soon. The process's clock stands still unless the test moves it. */
class MissedWakeUpTest extends OnEngine {

    /** One that was promised to be woken looks this seldom. */
    private static final Duration SELDOM = Duration.ofMillis(500);

    private final HandTicker clock = new HandTicker();
    private LeaseEngine mine;
    private volatile long listensSince = clock.now();

    @BeforeEach
    void engineThatListens() {
        Database database = new Database(seen.dataSource(), Dialects.detect(seen.dataSource()), clock);
        LockStore store = new LockStore(database.dialect(), new Tables(null, "bitjang_"), clock, GrantKey::newSecret);
        ThreadWorkers threads = new ThreadWorkers(clock);
        mine = new LeaseEngine(
                new Instance(
                        new WorkerDriver(database, threads),
                        store,
                        new Events(List.of()),
                        new Settings("mine", LONG, LONG, false, true)),
                store.guard(database),
                sleepers -> new Listens());
        closing(() -> threads.close(Ticker.SYSTEM.in(Duration.ofSeconds(2))));
        closing(() -> mine.close(Ticker.SYSTEM.in(Duration.ofSeconds(2))));
        closing(seen::up);
    }

    /** Listens from a moment on that the test chooses. */
    private final class Listens implements WakeUps {

        @Override
        public boolean want(List<LockName> names) {
            return false;
        }

        @Override
        public boolean willRing(List<LockName> names, long since) {
            return listensSince - since <= 0;
        }

        @Override
        public void close(Deadline end) {}
    }

    private WaitQueue waiting(Duration time) {
        mine.waiting.enqueue(new LeaseWaiter(clock, List.of(JOB), request(), Wait.upTo(time)));
        return Objects.requireNonNull(mine.waiting.queueFor(List.of(JOB)));
    }

    private static boolean marks(String sql) {
        return sql.contains("c.wanted = 0");
    }

    private void untilLookedAt(WaitQueue queue) throws Exception {
        eventually("it has looked", () -> queue.looks() > 0 && queue.nextPoll() != Long.MAX_VALUE);
    }

    private Duration untilNextLook(WaitQueue queue) {
        return Duration.ofNanos(queue.nextPoll() - clock.now());
    }

    @Test
    void one_who_began_to_listen_after_its_look_looks_again_soon() throws Exception {
        other.lease(JOB).acquire(Wait.none());
        seen.after(sql -> {
            if (marks(sql)) {
                clock.pass(Duration.ofMillis(1));
                // the word that it is free came before
                listensSince = clock.now();
            }
        });

        WaitQueue queue = waiting(Duration.ofSeconds(30));

        untilLookedAt(queue);
        assertThat(untilNextLook(queue)).isLessThan(SELDOM);
    }

    @Test
    void one_who_listened_before_its_look_relies_on_it() throws Exception {
        other.lease(JOB).acquire(Wait.none());

        WaitQueue queue = waiting(Duration.ofSeconds(30));

        untilLookedAt(queue);
        assertThat(untilNextLook(queue)).isEqualTo(SELDOM);
    }

    /** The look found the lock held here, and marked as wanted; so it counts on a word that has come long since. */
    @Test
    void look_that_was_under_way_while_the_lock_was_freed_here_puts_off_no_other() throws Exception {
        LeaseHandle held = (LeaseHandle) new NamedLease(mine, List.of(JOB)).acquire(Wait.none());
        set("wanted = 77", JOB);
        WaitQueue queue = waiting(Duration.ofSeconds(30));
        // so that it is really freed: this process has used up its share
        queue.share.granted(true);
        clock.pass(Duration.ofMillis(150));
        AtomicInteger looks = new AtomicInteger();
        seen.after(sql -> {
            if (isLook(sql) && looks.incrementAndGet() == 1) {
                held.close();
                other.lease(JOB).acquire(Wait.none());
                // no longer standing back
                clock.pass(Duration.ofMillis(100));
            }
        });
        clock.pass(Duration.ofSeconds(1));
        waiting(Duration.ofMillis(1));

        eventually("it looks again, though no time passes", () -> looks.get() > 1);
    }

    /** It was about to hand the lock on, and is gone now. */
    @Test
    void one_who_counts_on_a_holder_here_looks_at_once_when_that_one_could_not_give_the_lock_back() throws Exception {
        LeaseHandle held = (LeaseHandle) new NamedLease(mine, List.of(JOB)).acquire(Wait.none());
        WaitQueue queue = waiting(Duration.ofSeconds(30));
        int looks = queue.looks();
        try (Connection business = seen.dataSource().getConnection()) {
            business.setAutoCommit(false);
            held.guard(business);

            held.close();

            eventually("it looks, though its time has not come", () -> queue.looks() > looks);
            business.rollback();
        }
    }

    private static boolean isLook(String sql) {
        return sql.startsWith("SELECT") && sql.contains("JOIN");
    }
}
