// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.Lease.State;
import io.bitjang.spi.LockEvent.Kind;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is not ours may throw anything at any time: that costs an attempt, never a lock, a thread or a loop. */
class ForeignFailureTest extends OnH2 {

    private static final LockName JOB = LockName.of("job");

    /** What the data source does instead of giving a connection; null to give one. */
    private volatile @Nullable Supplier<Throwable> broken;

    private final AtomicInteger asked = new AtomicInteger();
    private Locks fragile;

    @BeforeEach
    void build() {
        DataSource target = seen.dataSource();
        DataSource source = (DataSource) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> {
                    if (broken != null) {
                        asked.incrementAndGet();
                        throw broken.get();
                    }
                    try {
                        return method.invoke(target, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
        fragile = closing(Locks.builder(source)
                .owner("fragile")
                .leaseDuration(LONG)
                .listener(events::add)
                .build());
        closing(() -> broken = null);
    }

    private static Throwable failure(String kind) {
        return switch (kind) {
            case "error" -> new NoClassDefFoundError("org/example/Router");
            case "checked" -> new java.io.IOException("thrown sneakily");
            default -> new IllegalStateException("Cannot determine target DataSource for lookup key [null]");
        };
    }

    @ParameterizedTest
    @ValueSource(strings = {"runtime", "error"})
    void whatever_a_data_source_throws_is_a_failure_of_the_database(String kind) {
        broken = () -> failure(kind);

        assertThatThrownBy(() -> fragile.lease(JOB).tryAcquire())
                .isInstanceOf(LockingFailException.class)
                .hasRootCauseInstanceOf(failure(kind).getClass());
        assertThatThrownBy(() -> fragile.lease(JOB).acquire(Wait.upTo(Duration.ofMillis(300))))
                .isInstanceOf(LockingFailException.class);
        assertThatThrownBy(() -> fragile.manager().tryLock("order", "42")).isInstanceOf(LockingFailException.class);
        assertThatThrownBy(() -> fragile.session("s").tryAcquire()).isInstanceOf(LockingFailException.class);
        assertThatThrownBy(() -> fragile.session("s").acquire(Wait.upTo(Duration.ofMillis(300))))
                .isInstanceOf(LockingFailException.class);
        assertThatThrownBy(() -> fragile.admin().find(JOB)).isInstanceOf(LockingFailException.class);
    }

    @Test
    void statement_that_fails_with_anything_else_may_have_been_done_and_is_found_out() throws Exception {
        seen.after(sql -> {
            seen.after(later -> {});
            throw new IllegalStateException("a wrapper's own mistake");
        });

        Lease lease = node.lease(JOB).acquire(Wait.none());

        assertThat(lease.isHeld()).isTrue();
        assertThat(column("fence", JOB)).isEqualTo(String.valueOf(lease.fence()));
    }

    @Test
    void listener_that_throws_what_it_did_not_declare_keeps_nobody_from_getting_or_losing_a_lock() throws Exception {
        Locks told = closing(builder()
                .listener(event -> ForeignFailureTest.<RuntimeException>throwSneakily(failure("checked")))
                .build());
        Gate called = gate();

        Lease lease = told.lease(JOB).acquire(Wait.none());
        lease.onLost(lost -> ForeignFailureTest.<RuntimeException>throwSneakily(failure("checked")));
        lease.onLost(lost -> called.pass());
        told.admin().forceRelease(JOB, lease.fence(), "ops", "it hangs");

        called.untilReached();
        assertThat(lease.state()).isEqualTo(State.LOST);
    }

    @SuppressWarnings("unchecked")
    private static <X extends Throwable> void throwSneakily(Throwable any) throws X {
        throw (X) any;
    }

    @Test
    void renewals_go_on_with_pauses_and_the_lease_is_kept() throws Exception {
        Lease lease =
                fragile.lease(JOB).lasting(Duration.ofSeconds(12)).tryAcquire().orElseThrow();
        broken = () -> failure("runtime");
        eventually("renewing has failed", () -> told(Kind.UNKNOWN) > 0);
        int first = asked.get();
        eventually("it was tried again", () -> asked.get() > first);

        broken = null;
        eventually("renewed", () -> told(Kind.RENEWED) > 0);

        assertThat(asked.get()).isLessThan(20);
        assertThat(lease.state()).isEqualTo(State.HELD);
        assertThat(told(Kind.LOST)).isZero();
    }

    @Test
    void lease_is_given_back_later_and_closing_it_does_not_throw() throws Exception {
        Lease lease = fragile.lease(JOB).acquire(Wait.none());
        broken = () -> failure("runtime");

        assertThatCode(lease::close).doesNotThrowAnyException();
        int tries = asked.get();
        eventually("giving back is tried again", () -> asked.get() > tries + 2);
        broken = null;

        eventually("it is free", () -> other.lease(JOB).tryAcquire().isPresent());
    }

    @Test
    void one_who_waits_gets_it_when_the_data_source_is_well_again() throws Exception {
        broken = () -> failure("runtime");
        Job<Lease> waits = start(() -> fragile.lease(JOB).acquire(PATIENT));
        eventually("it was tried", () -> asked.get() > 1);

        broken = null;

        assertThat(waits.result().isHeld()).isTrue();
        assertThat(asked.get()).isLessThan(200);
    }
}
