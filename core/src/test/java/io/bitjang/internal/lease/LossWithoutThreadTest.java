// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.bitjang.Lease.State;
import io.bitjang.internal.work.FewThreads;
import io.bitjang.internal.work.Workers;
import io.bitjang.spi.LockEvent.Kind;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

/** A lease that is lost while the process can't have one more thread. */
class LossWithoutThreadTest extends OnEngine {

    private final FewThreads threads = new FewThreads();

    @Override
    Workers workers() {
        return threads.workers();
    }

    @Test
    void loss_is_told_by_the_state_at_once_and_by_the_callback_when_there_is_a_thread() throws Exception {
        Queue<String> called = new ConcurrentLinkedQueue<>();
        LeaseHandle lease = leaseOf(JOB, request(), LONG.minus(Duration.ofMillis(200)));
        lease.onLost(lost -> called.add("left before"));

        assertThatCode(() -> eventually("it is lost", () -> lease.state() == State.LOST))
                .doesNotThrowAnyException();
        assertThat(told(Kind.LOST)).isEqualTo(1);
        assertThat(called).isEmpty();
        threads.timed(true);
        threads.allow(1_000);

        eventually("it is called", () -> !called.isEmpty());
        // they come one after the other: had the first been called twice, it would be seen
        lease.onLost(lost -> called.add("left after"));
        eventually("the late one, too", () -> called.contains("left after"));
        assertThat(called).containsExactly("left before", "left after");
    }
}
