// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.postgresql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.LockingFailException;
import io.bitjang.Locks;
import io.bitjang.SessionLock;
import io.bitjang.Wait;
import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.OnLocks;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Behind PgBouncer in transaction mode a session lock stays with whoever gets the session next: it is refused there. */
@OnDatabase("postgresql")
class PoolerTest extends OnLocks {

    @TempDir
    Path folder;

    private Locks behind(PgBouncer bouncer) {
        return closing(Locks.builder(bouncer.dataSource()).notifications(false).build());
    }

    @Test
    void session_locks_are_refused_behind_a_pooler_in_transaction_mode() throws Exception {
        Locks node = behind(closing(PgBouncer.start(database, folder, "transaction")));

        assertThatThrownBy(() -> node.session(name("a")).tryAcquire())
                .isInstanceOf(LockingFailException.class)
                .hasMessageContaining("transaction mode")
                .hasMessageContaining("locks.lease(name)");
        assertThatThrownBy(() -> node.session(name("a")).acquire(Wait.upTo(Duration.ofSeconds(20))))
                .isInstanceOf(LockingFailException.class)
                .hasMessageContaining("transaction mode");
        assertThat(locks.session(name("a")).tryRun(() -> {}))
                .as("nothing is left behind")
                .isTrue();
    }

    @Test
    void statements_that_the_driver_prepares_behind_a_pooler_are_noticed_at_start() throws Exception {
        PgBouncer bouncer = closing(PgBouncer.start(database, folder, "transaction"));
        List<String> warnings = new CopyOnWriteArrayList<>();
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord entry) {
                warnings.add(entry.getMessage());
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger logger = Logger.getLogger("io.bitjang");
        logger.addHandler(handler);
        AutoCloseable remove = () -> logger.removeHandler(handler);
        closing(remove);

        closing(Locks.create(pool));
        closing(Locks.create(bouncer.dataSource()));
        assertThat(warnings).isEmpty();
        closing(Locks.create(bouncer.carelessDataSource()));
        assertThat(warnings).singleElement().asString().contains("PgBouncer", "prepareThreshold=0");
    }

    @Test
    void leases_and_locks_for_a_transaction_work_there() throws Exception {
        PgBouncer bouncer = closing(PgBouncer.start(database, folder, "transaction"));
        Locks node = behind(bouncer);

        node.lease(name("a"))
                .run(
                        Wait.none(),
                        () -> assertThat(locks.lease(name("a")).tryAcquire()).isEmpty());
        try (Connection connection = bouncer.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            assertThat(node.session(name("a"))
                            .callInTransaction(
                                    connection,
                                    Wait.none(),
                                    () -> locks.session(name("a")).tryAcquire().isEmpty()))
                    .isTrue();
        }
        assertThat(locks.session(name("a")).tryRun(() -> {})).isTrue();
    }

    @Test
    void session_locks_have_a_way_of_their_own_past_the_pooler() throws Exception {
        PgBouncer bouncer = closing(PgBouncer.start(database, folder, "transaction"));
        Locks node = closing(Locks.builder(bouncer.dataSource())
                .notifications(false)
                .sessionDataSource(pool)
                .build());

        try (SessionLock.Hold hold = node.session(name("a")).acquire(Wait.none())) {
            assertThat(hold.isHeld()).isTrue();
            assertThat(other.session(name("a")).tryAcquire()).isEmpty();
        }
    }

    @Test
    void session_locks_work_behind_a_pooler_in_session_mode() throws Exception {
        Locks node = behind(closing(PgBouncer.start(database, folder, "session")));

        try (SessionLock.Hold hold = node.session(name("a")).acquire(Wait.none())) {
            assertThat(hold.isHeld()).isTrue();
            assertThat(other.session(name("a")).tryAcquire()).isEmpty();
        }
        assertThat(other.session(name("a")).tryRun(() -> {})).isTrue();
    }
}
