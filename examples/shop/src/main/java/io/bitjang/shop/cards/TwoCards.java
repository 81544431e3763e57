// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.cards;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.shop.cards.CardRun.Cell;
import io.bitjang.shop.web.Live;
import jakarta.annotation.PreDestroy;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Component;

/** Fires twenty requests at once for a user who may have two cards. Thread-safe. */
@Component
class TwoCards {

    private static final int SECONDS = 3;

    private final Cards cards;
    private final Locks locks;
    private final HikariDataSource business;
    private final Live live;
    private final Duration patience;
    private final Map<Way, CardRun> runs = new ConcurrentHashMap<>();
    private final AtomicInteger count = new AtomicInteger();
    private final ExecutorService threads = Executors.newCachedThreadPool(work -> {
        Thread made = new Thread(work, "cards");
        made.setDaemon(true);
        return made;
    });

    TwoCards(Cards cards, Locks locks, DataSource business, Live live, @Value("${shop.patience:3s}") Duration patience)
            throws SQLException {
        this.cards = cards;
        this.locks = locks;
        this.business = business.unwrap(HikariDataSource.class);
        this.live = live;
        this.patience = patience;
    }

    @PreDestroy
    void close() {
        threads.shutdownNow();
    }

    @Nullable
    CardRun run(Way way) {
        return runs.get(way);
    }

    /** Fires, unless the last ones are still on their way. */
    void fire(Way way) {
        CardRun run = new CardRun(count.incrementAndGet());
        CardRun current = runs.compute(way, (same, last) -> last == null || last.isOver() ? run : last);
        if (current == run) {
            threads.execute(() -> fire(way, run));
        }
    }

    private void fire(Way way, CardRun run) {
        String user = "user-" + run.number();
        CyclicBarrier together = new CyclicBarrier(CardRun.REQUESTS);
        CountDownLatch answers = new CountDownLatch(CardRun.REQUESTS);
        boolean leftLocked = false;
        try (UserLevelLockWithJdbcTemplate first = new UserLevelLockWithJdbcTemplate(business)) {
            for (int i = 0; i < CardRun.REQUESTS; i++) {
                int request = i;
                threads.execute(() -> {
                    try {
                        together.await();
                        request(way, run, request, user, first);
                    } catch (Exception e) {
                        run.set(request, Cell.FAILED);
                    } finally {
                        answers.countDown();
                        live.changed("cards");
                    }
                });
            }
            answers.await();
            leftLocked = way == Way.SEED && isLocked(user);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            end(run, user, leftLocked);
        }
    }

    private void end(CardRun run, String user, boolean leftLocked) {
        try {
            run.over(cards.count(user), leftLocked);
            cards.forget(user);
        } catch (DataAccessException e) {
            run.trouble(String.valueOf(e.getMessage()));
            run.over(0, leftLocked);
        }
        live.changed("cards");
    }

    private void request(Way way, CardRun run, int request, String user, UserLevelLockWithJdbcTemplate first) {
        Supplier<Cell> add = () -> {
            boolean added = cards.add(user, () -> {
                run.set(request, Cell.INSIDE);
                live.changed("cards");
            });
            return run.set(request, added ? Cell.ADDED : Cell.FULL);
        };
        try {
            switch (way) {
                case NONE -> run.set(request, add.get());
                case SEED -> first.executeWithLock(user, SECONDS, add);
                case BITJANG -> locks.session(LockName.of("user", user)).executeWithLock(patience, add);
            }
        } catch (Exception e) {
            run.trouble(String.valueOf(e.getMessage()));
            run.set(request, run.get(request) == Cell.ADDED ? Cell.ADDED_BUT_FAILED : Cell.FAILED);
        }
    }

    /** Whether somebody who comes now finds the door locked, although all have gone. */
    private boolean isLocked(String user) {
        try (UserLevelLockWithJdbcTemplate later = new UserLevelLockWithJdbcTemplate(business)) {
            return later.executeWithLock(user, 0, () -> false);
        } catch (Exception e) {
            return true;
        }
    }
}
