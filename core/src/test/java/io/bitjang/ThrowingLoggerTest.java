// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.bitjang.spi.LockEvent.Kind;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Listeners and loggers that throw cost a line of the log, and nobody a lock. */
class ThrowingLoggerTest extends OnH2 {

    private static final LockName JOB = LockName.of("job");
    private static final Logger LOG = Logger.getLogger("io.bitjang");

    private final AtomicInteger thrown = new AtomicInteger();
    private volatile boolean ill = true;
    private volatile Level worst = Level.WARNING;

    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord written) {
            if (ill && written.getLevel().intValue() >= worst.intValue()) {
                thrown.incrementAndGet();
                throw new AssertionError("there is no place for a line of the log");
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    @BeforeEach
    void log() {
        LOG.setLevel(Level.WARNING);
        LOG.setUseParentHandlers(false);
        LOG.addHandler(handler);
    }

    @AfterEach
    void recover() {
        LOG.removeHandler(handler);
        LOG.setUseParentHandlers(true);
    }

    private Locks withListenerThatFailsOn(Kind kind) {
        return closing(builder()
                .listener(event -> {
                    if (ill && event.kind() == kind) {
                        throw new IllegalStateException("a listener that fails");
                    }
                })
                .build());
    }

    @Test
    void one_who_waits_is_served_all_the_same() throws Exception {
        Locks mine = withListenerThatFailsOn(Kind.REFUSED);
        Lease held = other.lease(JOB).acquire(Wait.none());
        Job<Lease> waiting = start(() -> mine.lease(JOB).acquire(PATIENT));
        eventually("refused, and the log has failed", () -> thrown.get() > 0);

        held.close();

        assertThat(waiting.result().isHeld()).isTrue();
    }

    @Test
    void lock_that_could_not_be_given_back_is_given_back_later() throws Exception {
        Lease lease = node.lease(JOB).acquire(Wait.none());
        down();
        assertThatCode(lease::close).doesNotThrowAnyException();
        assertThat(thrown).hasPositiveValue();
        seen.up();

        eventually("free", () -> other.lease(JOB).tryAcquire().isPresent());
    }

    @Test
    void grant_reaches_the_one_who_asked_for_it() {
        Locks mine = withListenerThatFailsOn(Kind.ACQUIRED);

        Lease lease = mine.lease(JOB).tryAcquire().orElseThrow();
        CompletableFuture<Lease> promise =
                mine.lease("other").acquireAsync(Wait.none()).toCompletableFuture();

        assertThat(promise.join().isHeld()).isTrue();
        lease.close();
        assertThat(thrown).hasPositiveValue();
        assertThat(other.lease(JOB).tryAcquire()).isPresent();
    }

    @Test
    void loss_is_told_by_the_callback_and_the_next_one_by_the_listener() throws Exception {
        AtomicInteger heard = new AtomicInteger();
        Locks mine = closing(builder()
                .listener(event -> {
                    if (event.kind() == Kind.LOST && heard.incrementAndGet() == 1) {
                        throw new IllegalStateException("a listener that fails");
                    }
                })
                .build());
        AtomicInteger called = new AtomicInteger();
        Lease first = mine.lease(JOB).acquire(Wait.none()).onLost(lost -> called.incrementAndGet());
        Lease second = mine.lease("other").acquire(Wait.none()).onLost(lost -> {
            called.incrementAndGet();
            throw new IllegalStateException("a callback that fails");
        });
        second.onLost(lost -> called.incrementAndGet());

        mine.admin().forceRelease(first.name(), first.fence(), "ops", "it hangs");
        mine.admin().forceRelease(second.name(), second.fence(), "ops", "it hangs");

        eventually("all are called", () -> called.get() == 3);
        eventually("both are told", () -> heard.get() == 2);
        assertThat(thrown).hasPositiveValue();
    }

    @Test
    void grant_outlives_a_connection_that_can_not_be_given_back_and_a_log_that_fails() throws Exception {
        LOG.setLevel(Level.ALL);
        worst = Level.FINE;
        seen.onClose(() -> {
            seen.onClose(() -> {});
            throw new IllegalStateException("a pool that fails");
        });

        assertThat(node.lease(JOB).tryAcquire()).isPresent();

        assertThat(thrown).hasPositiveValue();
    }
}
