// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.spi.LockEvent;
import io.bitjang.spi.LockEvent.Kind;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Every event is told and logged, also where nobody listens, and none of them shows a lock id. */
class SecretsTest extends OnH2 {

    private static final LockName ORDER = LockName.of("order", "42");
    private static final LockName JOB = LockName.of("job");

    private final List<String> secrets = new ArrayList<>();
    private LogLines logged;

    @BeforeEach
    void log() {
        logged = closing(LogLines.events());
    }

    private void remember(LockName name) throws SQLException {
        secrets.add(column("lock_id", name));
    }

    @Test
    void life_of_locks_is_told_and_logged_without_a_lock_id() throws Exception {
        LockId first = node.manager().tryLock("order", "42", "kim", LONG);
        remember(ORDER);
        node.lease(ORDER).tryAcquire();
        node.manager().renew(first, LONG);
        expire(ORDER);
        LockId second = node.manager().tryLock("order", "42", "lee", LONG);
        remember(ORDER);
        node.admin().forceRelease(ORDER, second.fence(), "ops", "why");
        node.distLock().tryLock("batch", "kim", LONG);
        node.distLock().tryLock("batch", "kim", LONG);
        remember(LockName.of(DistLock.TYPE, "batch"));
        Lease held = node.lease(JOB).acquire(Wait.none());
        remember(JOB);
        Job<Lease> next = start(() -> node.lease(JOB).acquire(PATIENT)).untilItWaits();
        held.close();
        Lease handed = next.result();
        remember(JOB);
        down();
        handed.close();
        seen.up();
        Lease lost = node.lease("lost").acquire(Wait.none());
        remember(lost.name());
        node.admin().forceRelease(lost.name(), lost.fence(), "ops", "why");
        node.session("a").acquire(Wait.none()).close();
        secrets.add(first.value());
        secrets.add(second.value());

        assertThat(told())
                .contains(
                        Kind.ACQUIRED,
                        Kind.REFUSED,
                        Kind.RENEWED,
                        Kind.TAKEN_OVER,
                        Kind.FORCE_RELEASED,
                        Kind.REENTERED,
                        Kind.RELEASED,
                        Kind.HANDED_OVER,
                        Kind.RELEASE_FAILED,
                        Kind.LOST);
        assertThat(logged.lines())
                .containsAll(events.stream().map(LockEvent::toString).toList())
                .allSatisfy(line -> assertThat(line).doesNotContain(secrets.toArray(String[]::new)));
        assertThat(List.of(
                        first.toString(),
                        held.toString(),
                        node.admin().find(ORDER).toString()))
                .allSatisfy(text -> assertThat(text).doesNotContain(secrets.toArray(String[]::new)));
    }

    @Test
    void instance_without_a_listener_logs_too() {
        other.lease(JOB).acquire(Wait.none()).close();

        assertThat(events).isEmpty();
        assertThat(logged.lines()).hasSize(2);
        assertThat(logged.lines().get(0)).contains("ACQUIRED", "job", "other");
        assertThat(logged.lines().get(1)).contains("RELEASED");
    }
}
