// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.LockingFailException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Delayed;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.KeepAliveLockProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class BitjangLockProviderTest extends OnShedLock {

    private static final Duration SHORT = Duration.ofMillis(30);

    private BitjangLockProvider provider;
    private BitjangLockProvider sameHost;

    @BeforeEach
    void providers() {
        provider = new BitjangLockProvider(locks);
        sameHost = new BitjangLockProvider(otherLocks);
    }

    @Test
    void operator_sees_the_job_and_its_host() {
        SimpleLock lock = locked(new BitjangLockProvider(locks, "host-7"), LONG);

        assertThat(row().owner()).isEqualTo("host-7");
        assertThat(row().remaining()).isBetween(LONG.minusSeconds(30), LONG);
        lock.unlock();
        assertThat(row().held()).isFalse();
    }

    @Test
    void lock_ends_at_lockAtMostFor_although_its_node_lives() {
        locked(provider, SHORT);

        until(() -> !isHeld());

        assertThat(lock(sameHost, LONG)).isPresent();
    }

    @Test
    void one_who_has_lost_its_lock_does_not_unlock_the_next_holders_lock_on_the_same_host() {
        SimpleLock late = locked(provider, SHORT);
        until(() -> !isHeld());
        locked(sameHost, LONG);

        List<String> warnings = warnings(late::unlock);

        assertThat(isHeld()).isTrue();
        assertThat(warnings)
                .singleElement()
                .asString()
                .contains(job, "has lost its lock", "another may have run at the same time", "PT0.03S");
    }

    @Test
    void one_who_has_lost_its_lock_with_lockAtLeastFor_does_not_unlock_the_next_holders_lock() {
        SimpleLock late = provider.lock(config(job, SHORT, SHORT)).orElseThrow();
        until(() -> !isHeld());
        locked(sameHost, LONG);

        assertThat(warnings(late::unlock)).hasSize(1);

        assertThat(row().remaining()).isGreaterThan(LONG.minusSeconds(30));
    }

    @Test
    void one_who_has_lost_its_lock_does_not_extend_the_next_holders_lock_on_the_same_host() {
        SimpleLock late = locked(provider, SHORT);
        until(() -> !isHeld());
        SimpleLock next = locked(sameHost, LONG);

        assertThat(late.extend(Duration.ofHours(1), Duration.ZERO)).isEmpty();

        assertThat(row().remaining()).isLessThanOrEqualTo(LONG);
        next.unlock();
        assertThat(isHeld()).isFalse();
    }

    @Test
    void what_the_job_throws_is_not_hidden_by_a_lock_that_was_lost() {
        DefaultLockingTaskExecutor executor = new DefaultLockingTaskExecutor(provider);
        Runnable failing = () -> {
            until(() -> !isHeld());
            locked(sameHost, LONG);
            throw new IllegalArgumentException("the job's own");
        };

        assertThatThrownBy(() -> executor.executeWithLock(failing, config(SHORT)))
                .hasMessage("the job's own");
    }

    @Test
    void warning_never_shows_the_lock_id() {
        SimpleLock late = locked(provider, SHORT);
        until(() -> !isHeld());
        locked(sameHost, LONG);

        assertThat(warnings(late::unlock)).noneMatch(text -> text.contains("LockId["));
    }

    @Test
    void failure_of_the_database_is_an_exception_and_not_a_lock_that_another_has() {
        source.fails();

        assertThatExceptionOfType(LockingFailException.class).isThrownBy(() -> lock(provider, LONG));
    }

    @Test
    void failure_of_the_database_is_an_exception_of_unlock_and_extend_and_both_can_be_tried_again() {
        SimpleLock lock = locked(provider, LONG);
        source.fails();

        assertThatExceptionOfType(LockingFailException.class).isThrownBy(() -> lock.extend(LONG, Duration.ZERO));
        assertThatExceptionOfType(LockingFailException.class).isThrownBy(lock::unlock);

        source.works();
        lock.extend(LONG, Duration.ZERO).orElseThrow().unlock();
        assertThat(isHeld()).isFalse();
    }

    @Test
    void extension_counts_from_now_and_may_shorten() {
        SimpleLock lock = locked(provider, LONG);

        SimpleLock shorter = lock.extend(Duration.ofMinutes(1), Duration.ZERO).orElseThrow();
        assertThat(row().remaining()).isBetween(Duration.ofSeconds(30), Duration.ofMinutes(1));

        shorter.extend(Duration.ofMinutes(10), Duration.ZERO).orElseThrow();
        assertThat(row().remaining()).isBetween(Duration.ofSeconds(570), Duration.ofMinutes(10));
    }

    @Test
    void unlocked_early_it_is_free_when_lockAtLeastFor_has_passed_since_the_grant() {
        provider.lock(config(job, LONG, Duration.ofMinutes(2))).orElseThrow().unlock();

        assertThat(lock(sameHost, LONG)).isEmpty();
        Duration atLeast = Duration.between(row().acquiredAt(), row().expiresAt());
        assertThat(atLeast)
                .isBetween(
                        Duration.ofMinutes(2).minusMillis(1),
                        Duration.ofMinutes(2).plusSeconds(10));
    }

    @Test
    void unlocked_early_after_an_extension_it_is_free_when_lockAtLeastFor_has_passed_since_the_extension() {
        SimpleLock lock =
                provider.lock(config(job, LONG, Duration.ofMinutes(2))).orElseThrow();
        Duration before = Duration.ofMillis(200);
        until(() -> row().remaining().compareTo(LONG.minus(before)) < 0);

        lock.extend(LONG, Duration.ofMinutes(4)).orElseThrow().unlock();

        Duration sinceGrant = Duration.between(row().acquiredAt(), row().expiresAt());
        assertThat(sinceGrant).isGreaterThan(Duration.ofMinutes(4).plus(before).minusMillis(1));
        assertThat(row().remaining()).isLessThanOrEqualTo(Duration.ofMinutes(4));
    }

    @Test
    void unlocked_after_lockAtLeastFor_it_is_free_at_once() {
        SimpleLock lock = provider.lock(config(job, LONG, SHORT)).orElseThrow();
        until(() -> row().remaining().compareTo(LONG.minus(SHORT)) < 0);

        lock.unlock();

        assertThat(lock(sameHost, LONG)).isPresent();
    }

    @Test
    void lock_taken_away_by_an_operator_is_told_and_cannot_be_extended() {
        SimpleLock lock = locked(provider, LONG);
        locks.admin().forceRelease(row().name(), row().fence(), "operator", "it hangs");

        List<String> warnings =
                warnings(() -> assertThat(lock.extend(LONG, Duration.ZERO)).isEmpty());

        assertThat(warnings).singleElement().asString().contains("can't be extended", "operator");
    }

    @Test
    void job_whose_lock_an_operator_took_away_is_told_who_and_not_to_change_lockAtMostFor() {
        for (Duration atLeast : List.of(Duration.ZERO, Duration.ofMinutes(2))) {
            SimpleLock lock = provider.lock(config(job, LONG, atLeast)).orElseThrow();
            locks.admin().forceRelease(row().name(), row().fence(), "operator", "it hangs");

            assertThat(warnings(lock::unlock))
                    .singleElement()
                    .asString()
                    .contains(job, "has lost its lock", "taken away by operator: it hangs")
                    .doesNotContain("lockAtMostFor");
        }
    }

    @Test
    void lockAtMostFor_of_zero_is_refused() {
        LockConfiguration nothing = config(Duration.ZERO);

        assertThatThrownBy(() -> provider.lock(nothing))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("longer than zero");
    }

    @Test
    void keep_alive_of_shedlock_keeps_it() {
        AtomicReference<Runnable> everyHalf = new AtomicReference<>();
        Optional<SimpleLock> kept = new KeepAliveLockProvider(provider, timer(everyHalf)).lock(config(LONG));
        Instant first = row().expiresAt();
        long fence = row().fence();

        everyHalf.get().run();
        everyHalf.get().run();

        assertThat(row().expiresAt()).isAfter(first);
        assertThat(row().fence()).isEqualTo(fence);
        kept.orElseThrow().unlock();
        assertThat(isHeld()).isFalse();
    }

    @Test
    void keep_alive_of_shedlock_does_not_win_back_what_was_lost() {
        AtomicReference<Runnable> everyHalf = new AtomicReference<>();
        new KeepAliveLockProvider(provider, timer(everyHalf)).lock(config(LONG)).orElseThrow();
        locks.admin().forceRelease(row().name(), row().fence(), "operator", "it hangs");
        locked(sameHost, SHORT);

        everyHalf.get().run();

        until(() -> !isHeld());
    }

    /** Does what it is given when the test wants it, not when time has passed. */
    private static ScheduledExecutorService timer(AtomicReference<Runnable> task) {
        return (ScheduledExecutorService) Proxy.newProxyInstance(
                BitjangLockProviderTest.class.getClassLoader(),
                new Class<?>[] {ScheduledExecutorService.class},
                (proxy, method, arguments) -> {
                    assertThat(method.getName()).isEqualTo("scheduleAtFixedRate");
                    task.set((Runnable) arguments[0]);
                    return new NeverRuns();
                });
    }

    /** What was logged meanwhile. */
    private static List<String> warnings(Runnable work) {
        List<String> messages = new ArrayList<>();
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord logged) {
                messages.add(logged.getMessage());
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger logger = Logger.getLogger("io.bitjang.shedlock");
        logger.addHandler(handler);
        try {
            work.run();
        } finally {
            logger.removeHandler(handler);
        }
        return messages;
    }

    /** The future of a task that the test runs by hand. */
    private static final class NeverRuns extends CompletableFuture<Object> implements ScheduledFuture<Object> {
        @Override
        public long getDelay(TimeUnit unit) {
            return 0;
        }

        @Override
        public int compareTo(Delayed other) {
            return 0;
        }
    }
}
