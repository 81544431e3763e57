// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Lease;
import io.bitjang.LockId;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.spi.LockEvent;
import io.bitjang.spi.LockEvent.Kind;
import io.bitjang.spi.LockListener;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

/** A listener hears of its own node's locks, of each by itself, and can't disturb anything. */
public abstract class ListenerContract extends OnOwnTables {

    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final Queue<LockEvent> told = new ConcurrentLinkedQueue<>();

    /** For the databases. */
    protected ListenerContract() {}

    @Test
    void a_lease_that_ends_unrenewed_is_told_as_lost() {
        Locks node = listening(told::add);

        Duration moment = Duration.ofMillis(300);
        assertThat(node.lease("job").lasting(moment).maxHold(moment).tryAcquire())
                .isPresent();

        Soon.holds("the loss is told", () -> kinds().contains(Kind.LOST));
    }

    @Test
    void every_name_of_a_group_is_told_by_itself() {
        Locks node = listening(told::add);

        node.leaseAll("a", "b").tryAcquire().orElseThrow().close();

        assertThat(told)
                .extracting(LockEvent::kind, event -> event.name().id())
                .containsExactlyInAnyOrder(
                        Assertions.tuple(Kind.ACQUIRED, "a"),
                        Assertions.tuple(Kind.ACQUIRED, "b"),
                        Assertions.tuple(Kind.RELEASED, "a"),
                        Assertions.tuple(Kind.RELEASED, "b"));
    }

    @Test
    void only_what_happened_to_this_nodes_locks_is_told() {
        listening(told::add);

        other.lease("job").tryAcquire().orElseThrow().close();

        assertThat(told).isEmpty();
    }

    @Test
    void a_listener_that_throws_disturbs_neither_the_locks_nor_the_other_listeners() throws Exception {
        List<LockListener> bad = List.of(
                event -> {
                    throw new IllegalStateException("a listener's own trouble with " + event.kind());
                },
                event -> {
                    throw new AssertionError("a listener's own error");
                },
                event -> {
                    throw new StackOverflowError("a listener's own depth");
                });
        Locks.Builder builder = builder();
        bad.forEach(builder::listener);
        Locks node = closing(builder.listener(told::add).build());

        LockId id = node.manager().tryLock("order", "42", "kim", MINUTE);
        node.manager().renew(id, MINUTE);
        node.manager().releaseLock(id);
        assertThat(node.distLock().tryLock("batch", "kim", MINUTE)).isTrue();
        assertThat(node.distLock().tryLock("batch", "lee", MINUTE)).isFalse();
        node.distLock().unlock("batch", "kim");
        // long enough to outlive a machine that stands still for a few seconds
        Lease first =
                node.lease("job").lasting(Duration.ofSeconds(9)).tryAcquire().orElseThrow();
        Soon.holds(
                "it is renewed in the background",
                () -> told.stream()
                                .filter(event -> event.kind() == Kind.RENEWED
                                        && event.name().equals(first.name()))
                                .count()
                        >= 1);
        assertThat(first.isHeld()).isTrue();
        CompletableFuture<Lease> waiting =
                node.lease("job").acquireAsync(Wait.upTo(MINUTE)).toCompletableFuture();
        first.close();
        Lease second = waiting.get(1, TimeUnit.MINUTES);
        assertThat(node.admin().forceRelease(second.name(), second.fence(), "ops", "why"))
                .isTrue();
        assertThat(second.state()).isEqualTo(Lease.State.LOST);

        assertThat(other.admin().counts().held()).isZero();
        assertThat(kinds())
                .contains(Kind.ACQUIRED, Kind.REFUSED, Kind.RENEWED, Kind.RELEASED, Kind.FORCE_RELEASED, Kind.LOST);
    }

    private Locks listening(LockListener listener) {
        return closing(builder().owner("told").listener(listener).build());
    }

    private List<Kind> kinds() {
        return told.stream().map(LockEvent::kind).toList();
    }
}
