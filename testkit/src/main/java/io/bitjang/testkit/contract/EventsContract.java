// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.bitjang.AlreadyLockedException;
import io.bitjang.Lease;
import io.bitjang.LockId;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.spi.LockEvent;
import io.bitjang.spi.LockEvent.Kind;
import io.bitjang.spi.LockListener;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

/** A listener hears of everything, and can't disturb anything. */
public abstract class EventsContract extends OnOwnTables {

    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final LockName ORDER = LockName.of("order", "42");

    private final Queue<LockEvent> told = new ConcurrentLinkedQueue<>();

    /** For the databases. */
    protected EventsContract() {}

    @Test
    void the_life_of_an_offline_lock_is_told() {
        Locks node = listening(told::add);

        LockId first = node.manager().tryLock("order", "42", "kim", MINUTE);
        assertThatExceptionOfType(AlreadyLockedException.class)
                .isThrownBy(() -> node.manager().tryLock("order", "42", "lee"));
        node.manager().renew(first, MINUTE);
        node.manager().extendLockExpiration(first, MINUTE);
        node.manager().releaseLock(first);
        LockId second = node.manager().tryLock("order", "42", "kim", Duration.ofMillis(1));
        lapse(ORDER);
        LockId third = node.manager().tryLock("order", "42", "lee", MINUTE);
        node.admin().forceRelease(ORDER, third.fence(), "ops", "why");

        assertThat(told)
                .extracting(LockEvent::kind, LockEvent::fence)
                .containsExactly(
                        Assertions.tuple(Kind.ACQUIRED, first.fence()),
                        Assertions.tuple(Kind.REFUSED, 0L),
                        Assertions.tuple(Kind.RENEWED, first.fence()),
                        Assertions.tuple(Kind.RENEWED, first.fence()),
                        Assertions.tuple(Kind.RELEASED, first.fence()),
                        Assertions.tuple(Kind.ACQUIRED, second.fence()),
                        Assertions.tuple(Kind.TAKEN_OVER, third.fence()),
                        Assertions.tuple(Kind.FORCE_RELEASED, third.fence()));
        assertThat(told).allMatch(event -> event.name().equals(ORDER));
        assertThat(told)
                .filteredOn(event -> event.kind() == Kind.TAKEN_OVER || event.kind() == Kind.FORCE_RELEASED)
                .allMatch(event -> "lee".equals(event.owner()));
        assertThat(detail(Kind.REFUSED)).contains("kim");
        assertThat(detail(Kind.FORCE_RELEASED)).contains("ops", "why");
    }

    @Test
    void the_life_of_a_lock_by_owner_is_told() {
        Locks node = listening(told::add);

        node.distLock().tryLock("batch", "kim", MINUTE);
        node.distLock().tryLock("batch", "kim", MINUTE);
        node.distLock().tryLock("batch", "lee", MINUTE);
        node.distLock().unlock("batch", "kim");

        assertThat(told)
                .extracting(LockEvent::kind, LockEvent::owner)
                .containsExactly(
                        Assertions.tuple(Kind.ACQUIRED, "kim"),
                        Assertions.tuple(Kind.REENTERED, "kim"),
                        Assertions.tuple(Kind.REFUSED, "lee"),
                        Assertions.tuple(Kind.RELEASED, "kim"));
    }

    @Test
    void the_life_of_a_lease_is_told() throws Exception {
        Locks node = listening(told::add);
        Lease first = node.lease("job").tryAcquire().orElseThrow();
        CompletableFuture<Lease> waiting =
                node.lease("job").owner("next").acquireAsync(Wait.upTo(MINUTE)).toCompletableFuture();
        first.close();
        Lease second = waiting.get(1, TimeUnit.MINUTES);
        second.renew();
        node.admin().forceRelease(second.name(), second.fence(), "ops", "why");

        Soon.holds("the loss is told", () -> kinds().contains(Kind.LOST));

        assertThat(kinds())
                .contains(Kind.ACQUIRED, Kind.RELEASED, Kind.HANDED_OVER, Kind.RENEWED, Kind.FORCE_RELEASED, Kind.LOST);
        assertThat(detail(Kind.LOST)).contains("ops", "why");
        assertThat(told)
                .filteredOn(event -> event.kind() == Kind.HANDED_OVER)
                .singleElement()
                .satisfies(event -> {
                    assertThat(event.owner()).isEqualTo("next");
                    assertThat(event.fence()).isEqualTo(second.fence());
                });
    }

    @Test
    void a_lease_whose_row_is_locked_is_told_as_at_risk_and_then_as_renewed() throws Exception {
        Locks node = listening(told::add);
        // H2 waits up to two seconds for a locked row before it says so, and the first renewal comes after a third
        Lease lease =
                node.lease("job").lasting(Duration.ofSeconds(12)).tryAcquire().orElseThrow();
        Connection blocker = transaction();
        lockRow(blocker, "job");

        Soon.holds("the risk is told", () -> kinds().contains(Kind.AT_RISK));
        assertThat(lease.state()).isEqualTo(Lease.State.AT_RISK);
        assertThat(lease.isHeld()).isTrue();
        blocker.rollback();

        Soon.holds("it is renewed", () -> lease.state() == Lease.State.HELD);
        Soon.holds("and that is told", () -> kinds().contains(Kind.RENEWED));
    }

    private Locks listening(LockListener listener) {
        return closing(builder().owner("told").listener(listener).build());
    }

    private List<Kind> kinds() {
        return told.stream().map(LockEvent::kind).toList();
    }

    private String detail(Kind kind) {
        return told.stream()
                .filter(event -> event.kind() == kind)
                .map(event -> String.valueOf(event.detail()))
                .findFirst()
                .orElseThrow();
    }

    private void lapse(LockName name) {
        Soon.holds("it lapsed", () -> other.admin().find(name).orElseThrow().isExpired());
    }

    private void lockRow(Connection connection, String id) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(
                "SELECT id FROM " + table("locks") + " WHERE type = ? AND id = ? FOR UPDATE")) {
            statement.setString(1, LockName.PLAIN);
            statement.setString(2, id);
            try (ResultSet row = statement.executeQuery()) {
                assertThat(row.next()).isTrue();
            }
        }
    }
}
