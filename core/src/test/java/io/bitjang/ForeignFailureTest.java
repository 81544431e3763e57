// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.Lease.State;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is not ours may throw anything at any time: that costs an attempt, never a lock, a thread or a loop. */
class ForeignFailureTest extends OnH2 {

    private static final LockName JOB = LockName.of("job");

    private final AtomicInteger asked = new AtomicInteger();

    /** The data source throws that from now on instead of giving a connection. */
    private void breaks(String kind) {
        seen.onOpen(() -> {
            asked.incrementAndGet();
            ForeignFailureTest.<RuntimeException>throwSneakily(failure(kind));
        });
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
        breaks(kind);

        assertThatThrownBy(() -> node.lease(JOB).tryAcquire())
                .isInstanceOf(LockingFailException.class)
                .hasRootCauseInstanceOf(failure(kind).getClass());
        assertThatThrownBy(() -> node.lease(JOB).acquire(Wait.upTo(Duration.ofMillis(300))))
                .isInstanceOf(LockingFailException.class);
        assertThatThrownBy(() -> node.manager().tryLock("order", "42")).isInstanceOf(LockingFailException.class);
        assertThatThrownBy(() -> node.session("s").tryAcquire()).isInstanceOf(LockingFailException.class);
        assertThatThrownBy(() -> node.session("s").acquire(Wait.upTo(Duration.ofMillis(300))))
                .isInstanceOf(LockingFailException.class);
        assertThatThrownBy(() -> node.admin().find(JOB)).isInstanceOf(LockingFailException.class);
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
    void statement_that_fails_after_it_has_answered_has_been_done_and_is_found_out() throws Exception {
        seen.afterClose(sql -> {
            seen.afterClose(later -> {});
            throw new SQLException("a wrapper could not count it");
        });

        Lease lease = node.lease(JOB).acquire(Wait.none());

        assertThat(lease.isHeld()).isTrue();
        assertThat(column("fence", JOB)).isEqualTo(String.valueOf(lease.fence()));
    }

    @Test
    void commit_that_fails_may_have_been_done_and_is_found_out() throws Exception {
        seen.withoutAutoCommit();
        seen.afterCommit(commit -> {
            seen.afterCommit(later -> {});
            throw new SQLException("a wrapper could not count it", "HY000");
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
    void lease_is_given_back_later_and_closing_it_does_not_throw() throws Exception {
        Lease lease = node.lease(JOB).acquire(Wait.none());
        breaks("runtime");

        assertThatCode(lease::close).doesNotThrowAnyException();
        int tries = asked.get();
        eventually("giving back is tried again", () -> asked.get() > tries + 2);
        seen.up();

        eventually("it is free", () -> other.lease(JOB).tryAcquire().isPresent());
    }

    @Test
    void one_who_waits_gets_it_when_the_data_source_is_well_again() throws Exception {
        breaks("runtime");
        Job<Lease> waits = start(() -> node.lease(JOB).acquire(PATIENT));
        eventually("it was tried", () -> asked.get() > 1);

        seen.up();

        assertThat(waits.result().isHeld()).isTrue();
        assertThat(asked.get()).isLessThan(200);
    }
}
