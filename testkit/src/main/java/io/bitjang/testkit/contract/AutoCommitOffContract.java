// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Lease;
import io.bitjang.LockData;
import io.bitjang.LockId;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.admin.LockFilter;
import io.bitjang.spi.LockEvent;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** A pool whose connections do not commit by themselves is served, and gets every connection back as it gave it. */
public abstract class AutoCommitOffContract extends OnOwnTables {

    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final Queue<String> flaws = new ConcurrentLinkedQueue<>();
    private final AtomicInteger returned = new AtomicInteger();

    /** For the databases. */
    protected AutoCommitOffContract() {}

    @Test
    void every_operation_is_committed_and_seen_by_others() throws Exception {
        CountDownLatch renewed = new CountDownLatch(1);
        Locks node = closing(Locks.builder(withoutAutoCommit())
                .tablePrefix(prefix())
                .owner("off")
                .audit(true)
                .listener(event -> {
                    if (event.kind() == LockEvent.Kind.RENEWED) {
                        renewed.countDown();
                    }
                })
                .build());

        LockId id = node.manager().tryLock("order", "42", "kim", MINUTE);
        assertThat(other.manager().checkLock(id).owner()).isEqualTo("kim");
        node.manager().extendLockExpiration(id, MINUTE);
        assertThat(other.manager().checkLock(id).remaining()).isGreaterThan(MINUTE);
        assertThat(node.manager().checkLock(id).held()).isTrue();
        node.manager().releaseLock(id);
        assertThat(find("order", "42").held()).isFalse();

        assertThat(node.distLock().tryLock("batch", "kim", MINUTE)).isTrue();
        assertThat(other.distLock().tryLock("batch", "lee", MINUTE)).isFalse();
        assertThat(node.distLock().tryLock("batch", "kim", MINUTE)).isTrue();
        node.distLock().unlock("batch", "kim");
        assertThat(find("dist", "batch").held()).isFalse();

        Lease lease =
                node.lease("job").lasting(Duration.ofSeconds(9)).tryAcquire().orElseThrow();
        assertThat(other.lease("job").tryAcquire()).isEmpty();
        assertThat(renewed.await(30, TimeUnit.SECONDS)).isTrue();
        lease.close();
        try (Lease all = node.leaseAll("a", "b", "c").acquire(Wait.none())) {
            assertThat(other.admin().counts().held()).isEqualTo(3);
            assertThat(all.isHeld()).isTrue();
        }
        assertThat(other.admin().counts().held()).isZero();

        LockId taken = other.manager().tryLock("order", "42", "lee", MINUTE);
        assertThat(node.admin().list(LockFilter.held())).hasSize(1);
        assertThat(node.admin().forceRelease(taken.name(), taken.fence(), "ops", "why"))
                .isTrue();
        assertThat(find("order", "42").held()).isFalse();
        assertThat(node.admin().audit(10)).hasSize(1);
        assertThat(node.admin().sweep(Duration.ofHours(1))).isZero();
        node.close();

        assertThat(returned).hasValueGreaterThan(12);
        assertThat(flaws).isEmpty();
    }

    @Test
    void a_wait_for_another_node_gives_its_connections_back_as_they_came() throws Exception {
        Locks node =
                closing(Locks.builder(withoutAutoCommit()).tablePrefix(prefix()).build());
        Lease held = other.lease("job").tryAcquire().orElseThrow();
        CompletableFuture<Lease> waiting =
                node.lease("job").acquireAsync(Wait.upTo(Duration.ofMinutes(1))).toCompletableFuture();
        // its own attempt has been refused when the table says that someone waits
        Soon.holds("it waits", () -> "job".equals(read("SELECT id FROM " + table("locks") + " WHERE wanted <> 0")));
        held.close();

        waiting.get(1, TimeUnit.MINUTES).close();

        node.close();
        assertThat(flaws).isEmpty();
    }

    @Test
    void a_refused_attempt_leaves_no_transaction_open() {
        Locks node =
                closing(Locks.builder(withoutAutoCommit()).tablePrefix(prefix()).build());
        other.manager().tryLock("order", "42", "lee", MINUTE);
        Lease held = other.leaseAll("b", "c").tryAcquire().orElseThrow();

        assertThat(node.lease(LockName.of("order", "42")).tryAcquire()).isEmpty();
        assertThat(node.leaseAll("a", "b").tryAcquire()).isEmpty();
        assertThat(node.admin().forceRelease(LockName.of("b"), held.fence() - 1, "ops", "why"))
                .isFalse();

        assertThat(returned).hasValueGreaterThan(2);
        assertThat(flaws).isEmpty();
    }

    private LockData find(String type, String id) {
        return other.admin().find(LockName.of(type, id)).orElseThrow();
    }

    private DataSource withoutAutoCommit() {
        return proxy(DataSource.class, pool, (result, call) -> result instanceof Connection c ? watched(c) : result);
    }

    /** A connection that complains when it is closed with auto-commit on, or with work that was neither committed nor undone. */
    private Connection watched(Connection connection) throws SQLException {
        connection.setAutoCommit(false);
        AtomicBoolean open = new AtomicBoolean();
        AtomicBoolean closed = new AtomicBoolean();
        return proxy(Connection.class, connection, (result, call) -> result, call -> {
            switch (call) {
                case "prepareStatement", "createStatement" -> open.set(!connection.getAutoCommit());
                case "commit", "rollback" -> open.set(false);
                case "close" -> {
                    if (closed.compareAndSet(false, true)) {
                        returned.incrementAndGet();
                        check("auto-commit is on", connection.getAutoCommit());
                        check("a transaction is open", open.get());
                    }
                }
                default -> {}
            }
        });
    }

    private void check(String flaw, boolean found) {
        if (found) {
            flaws.add(flaw);
        }
    }

    private interface After {
        Object apply(Object result, String call) throws SQLException;
    }

    private interface Before {
        void at(String call) throws SQLException;
    }

    private static <T> T proxy(Class<T> type, T target, After after) {
        return proxy(type, target, after, call -> {});
    }

    private static <T> T proxy(Class<T> type, T target, After after, Before before) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    before.at(method.getName());
                    try {
                        return after.apply(method.invoke(target, arguments), method.getName());
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }
}
