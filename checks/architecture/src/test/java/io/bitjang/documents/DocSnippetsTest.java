// SPDX-License-Identifier: Apache-2.0
package io.bitjang.documents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.AlreadyLockedException;
import io.bitjang.Lease;
import io.bitjang.LeaseLock;
import io.bitjang.LockData;
import io.bitjang.LockId;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.NoLockException;
import io.bitjang.SessionLock;
import io.bitjang.Wait;
import io.bitjang.admin.LockFilter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcConnectionPool;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every Java snippet of the documents, compiled and run. {@link DocumentsTest} sees to it that they are the same. */
class DocSnippetsTest {
    private final Report report = new Report();
    private final List<String> printed = new CopyOnWriteArrayList<>();
    private JdbcConnectionPool pool;
    private DataSource dataSource;
    private Locks locks;

    @BeforeEach
    void open() throws SQLException {
        pool = JdbcConnectionPool.create("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1", "sa", "");
        dataSource = pool;
        locks = Locks.create(dataSource);
        execute("CREATE TABLE orders (id varchar(20) PRIMARY KEY, address varchar(100))");
        execute("INSERT INTO orders VALUES ('42', 'Seoul')");
    }

    @AfterEach
    void close() throws SQLException {
        locks.close();
        execute("SHUTDOWN");
        pool.dispose();
    }

    private record Card(int user) {}

    /** The cards of users. */
    private static final class Cards {
        private final List<Card> all = new CopyOnWriteArrayList<>();

        Card add(int user) {
            Card card = new Card(user);
            all.add(card);
            return card;
        }
    }

    @Test
    void session_a_critical_section() {
        Cards cards = new Cards();
        Card card = locks.session("user:7").executeWithLock(Duration.ofSeconds(3), () -> cards.add(7));
        assertThat(cards.all).containsExactly(card);
    }

    @Test
    void session_a_hold() {
        Cards cards = new Cards();
        try (SessionLock.Hold hold = locks.session("user:7").acquire(Wait.upTo(Duration.ofSeconds(3)))) {
            hold.onLost(lost -> stop(lost.name() + " is lost"));
            cards.add(7);
        }
        assertThat(cards.all).hasSize(1);
        assertThat(printed).isEmpty();
    }

    @Test
    void session_a_transaction() throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            locks.session("order:42").callInTransaction(connection, Wait.upTo(Duration.ofSeconds(3)), () -> {
                saveAddress(connection, "42", "Jeju");
                return null;
            });
        }
        assertThat(address()).isEqualTo("Jeju");
    }

    @Test
    void session_settings() {
        DataSource smallPool = dataSource;
        this.locks.close();
        Locks locks = Locks.builder(dataSource)
                .sessionDataSource(smallPool)
                .sessionWaiters(1)
                .maxSessionLocks(5_000)
                .build();
        assertThat(locks.session("a").tryRun(() -> {})).isTrue();
        locks.close();
    }

    @Test
    void readme_a_job() {
        locks.close();
        Locks locks =
                Locks.create(dataSource); // finds out which database it is, creates the tables if they are missing

        // a job that must run once in the cluster; renewed in the background while the block runs
        try (Lease lease = locks.lease("nightly-report").acquire(Wait.upTo(Duration.ofSeconds(10)))) {
            report.write(lease.fence());
        }
        assertThat(report.fences).hasSize(1);
        assertThat(locks.admin().find(LockName.of("nightly-report")))
                .hasValueSatisfying(row -> assertThat(row.held()).isFalse());
        locks.close();
    }

    @Test
    void readme_an_edit_screen() throws SQLException {
        // an edit screen opens: the lock id goes into a hidden field of the form
        LockId lockId =
                locks.manager().tryLock("order", "42", "kim"); // AlreadyLockedException: who, since when, until when

        // the form is saved, on whatever node: one transaction of yours
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            locks.manager().checkLock(connection, lockId); // guard: nobody takes the lock over until this commits
            saveAddress(connection, "42", "Jeju");
            locks.manager().releaseLock(connection, lockId); // free when, and only when, the change commits
            connection.commit();
        }
        assertThat(address()).isEqualTo("Jeju");
        assertThat(locks.manager().tryLock("order", "42", "lee").fence()).isGreaterThan(lockId.fence());
        assertThatThrownBy(() -> locks.manager().tryLock("order", "42", "park"))
                .isInstanceOf(AlreadyLockedException.class)
                .hasMessageContaining("held by lee since ");
    }

    @Test
    void readme_settings() {
        try (Locks made = settings()) {
            made.lease("x").run(Wait.none(), () -> report.write(0));
        }
        assertThat(printed).contains("ACQUIRED x", "RELEASED x");
    }

    private Locks settings() {
        Locks locks = Locks.builder(dataSource)
                .owner("node-1")
                .leaseDuration(Duration.ofSeconds(30))
                .offlineDuration(Duration.ofMinutes(5))
                .schema(Locks.Schema.VALIDATE)
                .audit(true)
                .listener(event -> log(event.kind() + " " + event.name()))
                .build();
        return locks;
    }

    @Test
    void a_lease_is_tried_or_answers(@TempDir Path folder) throws IOException {
        boolean ran = locks.lease("nightly-report").tryRun(() -> report.write(0));
        assertThat(ran).isTrue();
        Path path = Files.writeString(folder.resolve("report"), "text");
        String text = locks.lease("nightly-report").call(Wait.none(), () -> Files.readString(path));
        assertThat(text).isEqualTo("text");
    }

    @Test
    void a_lease_that_another_node_has() {
        try (Locks another = Locks.create(dataSource);
                Lease theirs = another.lease("nightly-report").owner("node-2").acquire(Wait.none())) {
            try (Lease lease = locks.lease("nightly-report").acquire(Wait.none())) {
                report.write(lease.fence());
            } catch (AlreadyLockedException e) {
                print("The report is being written by "
                        + e.holder().map(LockData::owner).orElse("someone else"));
            }
            assertThat(theirs.isHeld()).isTrue();
        }
        assertThat(printed).containsExactly("The report is being written by node-2");
    }

    @Test
    void a_lease_is_told_how() {
        LeaseLock job = locks.lease("cleanup")
                .lasting(Duration.ofMinutes(1))
                .owner("node-1")
                .note("the weekly one")
                .maxHold(Duration.ofHours(2))
                .notFreeBefore(Duration.ofSeconds(30));
        job.acquire(Wait.none()).close();
        assertThat(job.tryAcquire()).as("it is not free before 30 seconds").isEmpty();
    }

    @Test
    void a_lease_says_that_it_is_lost() throws InterruptedException {
        CountDownLatch told = new CountDownLatch(1);
        Lease lease = locks.lease("x").acquire(Wait.none()).onLost(lost -> told.countDown());
        lease.onLost(lost -> stop(lost.lostBecause().orElse("")));
        lease.ensure(Duration.ofSeconds(5)); // renews if less is left; NoLockException if it is lost
        locks.admin().forceRelease(lease.name(), lease.fence(), "lee", "test");
        assertThat(told.await(30, TimeUnit.SECONDS)).isTrue();
        assertThatThrownBy(() -> lease.ensure(Duration.ofSeconds(5))).isInstanceOf(NoLockException.class);
    }

    @Test
    void a_lease_without_a_waiting_thread() {
        CompletionStage<Lease> stage = locks.lease("nightly-report").acquireAsync(Wait.upTo(Duration.ofSeconds(10)));
        try (Lease lease = stage.toCompletableFuture().join()) {
            assertThat(lease.isHeld()).isTrue();
        }
    }

    @Test
    void a_lease_as_a_lock() {
        Lock lock = locks.lease("import").asLock();
        lock.lock();
        try {
            report.write(0);
        } finally {
            lock.unlock(); // ConcurrentModificationException if it was lost meanwhile
        }
        assertThat(report.fences).hasSize(1);
    }

    @Test
    void several_at_once() {
        try (Lease both = locks.leaseAll("account:1", "account:2").acquire(Wait.upTo(Duration.ofSeconds(2)))) {
            transfer(both.fence());
        }
        assertThat(report.fences).hasSize(1);
    }

    @Test
    void a_lock_by_owner() {
        boolean mine = locks.distLock().tryLock("batch", "node-1", Duration.ofMinutes(5));
        if (mine) {
            try {
                report.write(0);
            } finally {
                locks.distLock().unlock("batch", "node-1");
            }
        }
        assertThat(report.fences).hasSize(1);
        assertThat(locks.distLock().tryLock("batch", "node-2", Duration.ofMinutes(5)))
                .isTrue();
    }

    @Test
    void an_offline_lock_travels_in_a_form() {
        assertThat(formOpened()).isNotBlank();
        LockData held = locks.admin().find(LockName.of("order", "42")).orElseThrow();
        assertThat(held.note()).isEqualTo("changing the address");
        locks.admin().forceRelease(held.name(), held.fence(), "lee", "test");
        String hiddenField = formOpened();

        LockId lockId = new LockId(hiddenField); // IllegalArgumentException if the text is no lock id
        locks.manager().extendLockExpiration(lockId, Duration.ofMinutes(1)); // adds to the present expiry
        locks.manager().renew(lockId, Duration.ofMinutes(5)); // from now; never shortens
        locks.manager().leave(lockId, Duration.ofSeconds(30)); // the page is left, but may come back

        assertThat(locks.manager().checkLock(lockId).remaining()).isLessThanOrEqualTo(Duration.ofSeconds(30));
    }

    private String formOpened() {
        LockId lockId = locks.manager().tryLock("order", "42", "kim", Duration.ofMinutes(5), "changing the address");
        String hiddenField = lockId.value();
        return hiddenField;
    }

    @Test
    void a_guard_with_a_lease() throws SQLException {
        try (Lease lease = locks.lease("x").acquire(Wait.none());
                Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            lease.guard(connection); // until the commit nobody can take the lock
            saveAddress(connection, "42", "Jeju");
            connection.commit();
        }
        assertThat(address()).isEqualTo("Jeju");
    }

    @Test
    void a_second_guard() throws SQLException {
        try (Lease lease = locks.lease("x").acquire(Wait.none());
                Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            Savepoint start = connection.setSavepoint();
            lease.guard(connection);
            saveAddress(connection, "42", "Jeju");
            connection.rollback(start); // ends the guard: the savepoint is older
            saveAddress(connection, "42", "Seoul");
            lease.guard(connection); // the second guard
            connection.commit();
        }
        assertThat(address()).isEqualTo("Seoul");
    }

    @Test
    void a_colleague_takes_over() {
        locks.manager().tryLock("order", "42", "kim");
        LockData seen = locks.admin().find(LockName.of("order", "42")).orElseThrow();
        Optional<LockId> lees = locks.manager().takeOver(seen, "lee", Duration.ofMinutes(5), null, "kim is on holiday");
        assertThat(lees).isPresent();
    }

    @Test
    void an_operator_looks_and_takes_away() {
        long fence = locks.manager().tryLock("order", "42", "kim").fence();
        for (LockData lock : locks.admin().list(LockFilter.held().ofType("order"))) {
            print(lock + ", " + lock.remaining() + " left");
        }
        boolean taken = locks.admin().forceRelease(LockName.of("order", "42"), fence, "lee", "kim is on holiday");
        int swept = locks.admin().sweep(Duration.ofDays(30));
        assertThat(printed).hasSize(1).allMatch(line -> line.contains("held by kim"));
        assertThat(taken).isTrue();
        assertThat(swept).isZero();
    }

    /** The outside world of the snippets. */
    private static final class Report {
        private final List<Long> fences = new ArrayList<>();

        void write(long fence) {
            fences.add(fence);
        }
    }

    private void log(String line) {
        printed.add(line);
    }

    private void print(String line) {
        printed.add(line);
    }

    private void stop(String why) {
        printed.add(why);
    }

    private void transfer(long fence) {
        report.write(fence);
    }

    private static void saveAddress(Connection connection, String id, String address) throws SQLException {
        try (PreparedStatement update = connection.prepareStatement("UPDATE orders SET address = ? WHERE id = ?")) {
            update.setString(1, address);
            update.setString(2, id);
            update.executeUpdate();
        }
    }

    private String address() throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT address FROM orders WHERE id = '42'")) {
            row.next();
            return row.getString(1);
        }
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
