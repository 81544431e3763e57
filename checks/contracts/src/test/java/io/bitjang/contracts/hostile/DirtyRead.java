// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.hostile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.bitjang.Lease;
import io.bitjang.LockingFailException;
import io.bitjang.Locks;
import io.bitjang.testkit.CountingDataSource;
import io.bitjang.testkit.contract.OnOwnTables;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * At READ UNCOMMITTED an attempt whose answer was lost is seen before it is committed. It may yet be rolled back: only a row that is
 * committed tells what became of it.
 */
public abstract class DirtyRead extends OnOwnTables {

    private final AtomicInteger probes = new AtomicInteger();
    private CountingDataSource source;
    private Locks node;

    /** The latest connection that the node was given. */
    private volatile Connection latest;

    /** What the server has of the attempt: a transaction that is open. */
    private volatile Connection attempt;

    @BeforeEach
    void losing_the_answer_of_the_attempt() {
        source = new CountingDataSource((DataSource) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> {
                    assertThat(method.getName()).isEqualTo("getConnection");
                    return connection();
                }));
        node = closing(Locks.builder(source).tablePrefix(prefix()).build());
        source.afterStatement(sql -> {
            if (attempt == null && sql.contains("INSERT ") && sql.contains(table("locks"))) {
                attempt = closing(latest);
                throw new SQLException("The answer is lost", "08006");
            }
        });
    }

    /** The server is not told that the node has given up the connection of the attempt. */
    private Connection connection() throws SQLException {
        Connection target = database.dataSource().getConnection();
        target.setAutoCommit(false);
        target.setTransactionIsolation(Connection.TRANSACTION_READ_UNCOMMITTED);
        latest = target;
        return (Connection) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    String name = method.getName();
                    if (target == attempt && (name.equals("rollback") || name.equals("close"))) {
                        return null;
                    }
                    try {
                        return method.invoke(target, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private interface End {
        void of(Connection connection) throws SQLException;
    }

    private void beforeTheSecondLook(End end) {
        source.onStatement(sql -> {
            if (sql.contains("probes + 1") && probes.incrementAndGet() == 2) {
                end.of(attempt);
            }
        });
    }

    @Test
    void attempt_that_is_committed_late_is_granted() {
        beforeTheSecondLook(Connection::commit);

        Lease lease = node.lease("job").tryAcquire().orElseThrow();

        assertThat(probes).hasValue(2);
        assertThat(other.lease("job").tryAcquire()).isEmpty();
        lease.renew();
    }

    @Test
    void attempt_that_is_rolled_back_late_is_made_again() {
        beforeTheSecondLook(Connection::rollback);

        Lease lease = node.lease("job").tryAcquire().orElseThrow();

        assertThat(probes).hasValue(2);
        assertThat(other.lease("job").tryAcquire()).isEmpty();
        lease.renew();
    }

    @Test
    void attempt_that_is_not_committed_is_no_grant() throws SQLException {
        assertThatExceptionOfType(LockingFailException.class)
                .isThrownBy(() -> node.lease("job").tryAcquire())
                .withMessageContaining("not known");

        attempt.rollback();
        assertThat(other.lease("job").tryAcquire()).isPresent();
    }
}
