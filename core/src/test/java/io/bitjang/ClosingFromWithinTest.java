// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.SessionLock.Hold;
import io.bitjang.spi.LockEvent.Kind;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** An instance may be closed by code that it calls itself: that does not wait for its own end. */
class ClosingFromWithinTest extends OnH2 {

    private final AtomicReference<Locks> mine = new AtomicReference<>();
    private final Gate called = gate();
    private final Gate closed = gate();

    /** One that would wait for longer than the tests do. */
    private Locks closedBy(Kind kind) {
        mine.set(closing(builder()
                .closeTimeout(LONG)
                .listener(event -> {
                    if (event.kind() == kind) {
                        close(mine.get());
                    }
                })
                .build()));
        return mine.get();
    }

    private void close(Locks locks) {
        called.pass();
        locks.close();
        closed.pass();
    }

    @Test
    void listener_closes_it() throws Exception {
        called.close();
        closed.close();
        // those who wait are told by a thread of the library's
        Job<Lease> waits = start(() -> closedBy(Kind.ACQUIRED).lease("job").acquire(PATIENT));

        closed.untilReached();

        assertThatThrownBy(waits::result).isInstanceOf(LockException.class);
        assertThat(other.lease("job").acquire(PATIENT).isHeld()).isTrue();
    }

    @Test
    void listener_closes_it_while_another_thread_does() throws Exception {
        closed.close();
        start(() -> closedBy(Kind.ACQUIRED).lease("job").acquire(PATIENT));
        called.untilReached();
        Job<String> another = start(() -> {
                    mine.get().close();
                    return "closed";
                })
                .untilItIsIn("ThreadWorkers.close");

        called.close();

        closed.untilReached();
        assertThat(another.result()).isEqualTo("closed");
    }

    @Test
    void callback_of_a_loss_closes_it() throws Exception {
        called.close();
        closed.close();
        Locks locks = closing(builder().closeTimeout(LONG).build());
        Lease lease = locks.lease("job").acquire(Wait.none());
        lease.onLost(lost -> close(locks));
        Hold hold = locks.session("session").acquire(Wait.none());

        locks.admin().forceRelease(lease.name(), lease.fence(), "ops", "it hangs");

        closed.untilReached();
        assertThat(hold.isHeld()).isFalse();
    }

    @Test
    void callback_of_a_session_that_died_closes_it() throws Exception {
        called.close();
        closed.close();
        Locks locks = closing(builder().closeTimeout(LONG).build());
        locks.session("job").acquire(Wait.none()).onLost(lost -> close(locks));

        seen.cut();

        closed.untilReached();
    }

    @Test
    void promise_that_is_kept_closes_it() throws Exception {
        called.close();
        closed.close();
        Locks locks = closing(builder().closeTimeout(LONG).build());

        locks.lease("job").acquireAsync(PATIENT).thenAccept(lease -> close(locks));

        closed.untilReached();
    }
}
