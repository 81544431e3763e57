// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.proof;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.Lease;
import io.bitjang.LockName;
import io.bitjang.LockingFailException;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.spi.LockEvent;
import io.bitjang.testkit.ChildJvm;
import io.bitjang.testkit.contract.OnAccounts;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A process is stopped (SIGSTOP) past its lease, before its guard and after it. Before: whoever takes over is safe from its late
 * write. After: nobody takes over until its transaction has ended, one way or the other.
 */
@Timeout(180)
public abstract class GuardProof extends OnAccounts {

    private static final int H2_SNAPSHOT = 6;
    private static final int OTHERS = Boolean.getBoolean("bitjang.soak") ? 1000 : 200;
    private static final Duration OTHER_LEASES = Duration.ofSeconds(10);

    /** With what the child guards its transaction, and for how long it takes the lock. */
    enum By {
        /** Also by a clock of its own: it must still have it when it guards. */
        LEASE(Duration.ofSeconds(6)),
        /** By the database alone, where a lock that lapsed, and that nobody took, can be guarded. */
        LOCK_ID(Duration.ofSeconds(1));

        private final Duration lasting;

        By(Duration lasting) {
            this.lasting = lasting;
        }
    }

    @ParameterizedTest
    @EnumSource
    void late_write_of_a_stopped_process_is_refused(By by) throws Exception {
        try (ChildJvm child = child(by, Connection.TRANSACTION_READ_COMMITTED)) {
            long fence = fenceOf(child);
            child.stop();
            Lease successor = takeOverAndWrite(locks, fence);

            child.cont();
            assertThat(told(child, "write 66")).isEqualTo("done");
            assertThat(told(child, "guard")).isEqualTo("NoLockException");
            assertThat(told(child, "commit")).isEqualTo("done");

            assertThat(balance()).as("the successor's").isEqualTo(200);
            assertThat(successor.isHeld()).isTrue();
        }
    }

    @Test
    void late_write_is_refused_while_many_leases_renew_past_an_open_pin() throws Exception {
        OtherLeases others = new OtherLeases();
        int snapshot = database.name().equals("h2") ? H2_SNAPSHOT : Connection.TRANSACTION_REPEATABLE_READ;
        try (ChildJvm child = child(By.LOCK_ID, snapshot)) {
            others.openPin();
            long fence = fenceOf(child);
            child.stop();
            Lease successor = takeOverAndWrite(locks, fence);
            others.awaitRenewals();

            child.cont();
            String guard = told(child, "guard");
            if (guard.equals("done")) {
                told(child, "write 66");
            }
            told(child, "commit");

            assertThat(guard).isEqualTo("NoLockException");
            assertThat(balance()).as("the successor's").isEqualTo(200);
            assertThat(successor.isHeld()).isTrue();
            others.awaitRenewals();
            others.assertNoneLost();
        }
    }

    @ParameterizedTest
    @EnumSource
    void nobody_takes_over_from_a_process_that_stopped_after_its_guard_until_it_commits(By by) throws Exception {
        try (ChildJvm child = child(by, Connection.TRANSACTION_READ_COMMITTED)) {
            long fence = fenceOf(child);
            assertThat(told(child, "guard")).isEqualTo("done");
            assertThat(told(child, "write 66")).isEqualTo("done");
            child.stop();
            awaitLapse(account);

            assertThat(locks.lease(account).tryAcquire()).isEmpty();
            if (by == By.LOCK_ID) {
                // what was pinned by a lease is the same row; an operator waits for it for two seconds
                assertThatThrownBy(() -> locks.admin().forceRelease(account, fence, "ops", "it hangs"))
                        .isInstanceOf(LockingFailException.class);
            }
            assertThat(locks.lease(account).tryAcquire()).isEmpty();
            assertThat(balance()).isZero();

            child.cont();
            assertThat(told(child, "commit")).isEqualTo("done");
            try (Lease next = locks.lease(account).acquire(Wait.upTo(PATIENCE))) {
                assertThat(next.fence()).isGreaterThan(fence);
                assertThat(balance()).as("what was committed under the guard").isEqualTo(66);
            }
        }
    }

    @Test
    void process_that_stopped_after_its_guard_writes_nothing_once_its_session_was_ended() throws Exception {
        try (ChildJvm child = child(By.LOCK_ID, Connection.TRANSACTION_READ_COMMITTED)) {
            long fence = fenceOf(child);
            assertThat(told(child, "guard")).isEqualTo("done");
            assertThat(told(child, "write 66")).isEqualTo("done");
            child.stop();
            awaitLapse(account);
            assertThat(locks.lease(account).tryAcquire()).isEmpty();

            try (Connection operator = database.dataSource().getConnection()) {
                database.killSessions(operator);
            }
            // without a pool: HikariCP takes no notice of what H2 says on a connection that was ended
            Locks node = closing(Locks.create(database.dataSource()));
            takeOverAndWrite(node, fence);

            child.cont();
            assertThat(told(child, "commit")).isNotEqualTo("done");
            assertThat(balance(transaction())).isEqualTo(200);
        }
    }

    /** Takes the lock when the stopped process has let it lapse, and writes under the guard. */
    private Lease takeOverAndWrite(Locks node, long fence) throws Exception {
        Lease successor = node.lease(account).acquire(Wait.upTo(PATIENCE));
        assertThat(successor.fence()).isGreaterThan(fence);
        Connection tx = transaction();
        successor.guard(tx);
        assertThat(balance(tx)).isZero();
        write(tx, 200);
        tx.commit();
        return successor;
    }

    private ChildJvm child(By by, int isolation) {
        return ChildJvm.of(Holder.class)
                .args(
                        database.jdbcUrl(),
                        database.user(),
                        database.password(),
                        accounts,
                        account.type(),
                        account.id(),
                        by.name(),
                        String.valueOf(isolation),
                        String.valueOf(by.lasting.toMillis()))
                .start();
    }

    private static long fenceOf(ChildJvm child) {
        return Long.parseLong(child.readLineStartingWith("holds ", PATIENCE).substring("holds ".length()));
    }

    private static String told(ChildJvm child, String command) {
        child.send(command);
        return child.readLineStartingWith(command + ": ", PATIENCE).substring(command.length() + 2);
    }

    /** Many leases of one node, and in their midst one whose row is pinned by an open transaction. */
    private final class OtherLeases {

        private final Map<LockName, Integer> renewals = new ConcurrentHashMap<>();
        private final Queue<LockEvent> losses = new ConcurrentLinkedQueue<>();
        private final LockName pinned = lockName("lease-0100-pinned");
        private final Locks node = closing(builder().listener(this::heard).build());
        private final List<Lease> leases = IntStream.range(0, OTHERS)
                .parallel()
                .mapToObj(i -> node.lease(lockName("lease-%04d".formatted(i)))
                        .lasting(OTHER_LEASES)
                        .acquire(Wait.none()))
                .toList();

        private void heard(LockEvent event) {
            if (event.kind() == LockEvent.Kind.RENEWED) {
                renewals.merge(event.name(), 1, Integer::sum);
            } else if (event.kind() == LockEvent.Kind.LOST && !event.name().equals(pinned)) {
                losses.add(event);
            }
        }

        void openPin() throws Exception {
            Lease lease = node.lease(pinned).lasting(OTHER_LEASES).acquire(Wait.none());
            lease.guard(transaction());
        }

        void awaitRenewals() throws Exception {
            renewals.clear();
            await("the renewal of all", () -> renewals.keySet().containsAll(names()) || !losses.isEmpty());
        }

        private List<LockName> names() {
            return leases.stream().map(Lease::name).toList();
        }

        void assertNoneLost() {
            assertThat(losses).isEmpty();
            assertThat(leases).allMatch(Lease::isHeld);
        }
    }
}
