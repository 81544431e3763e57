// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.spi.LockEvent;
import io.bitjang.spi.LockEvent.Kind;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Two nodes on a database in memory, a new one for each test. What happens to the first is seen. */
public abstract class OnH2 {

    /** A lease that outlives any test. */
    protected static final Duration LONG = Duration.ofSeconds(60);

    /** Far longer than anything takes, and shorter than {@link #LONG}: what comes by expiry only comes too late. */
    protected static final Wait PATIENT = Wait.upTo(Duration.ofSeconds(30));

    /** Its warnings are what the tests provoke. */
    private static final Logger WARNINGS = Logger.getLogger("io.bitjang");

    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(30);
    private static final AtomicInteger DATABASES = new AtomicInteger();

    /** Not the zone of the tests; and who meets a locked row hears of it soon. */
    private final String url = "jdbc:h2:mem:core" + DATABASES.incrementAndGet()
            + ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=300;TIME ZONE=Australia/Eucla";

    private final Deque<AutoCloseable> closing = new ArrayDeque<>();

    /** What the first node's statements go through. */
    protected final ObservedSource seen = new ObservedSource(url);

    /** What was told on the first node. */
    protected final Queue<LockEvent> events = new ConcurrentLinkedQueue<>();

    /** The first node. */
    protected Locks node;

    /** Another process, as far as the database can tell. */
    protected Locks other;

    /** For the tests. */
    protected OnH2() {}

    @BeforeEach
    final void open() {
        WARNINGS.setUseParentHandlers(false);
        closing(() -> execute("SHUTDOWN"));
        node = closing(builder().listener(events::add).build());
        other = closing(Locks.builder(new ObservedSource(url).dataSource())
                .owner("other")
                .leaseDuration(LONG)
                .build());
        closing(seen::up);
        seen.reset();
    }

    @AfterEach
    final void close() throws Exception {
        while (!closing.isEmpty()) {
            closing.pop().close();
        }
        WARNINGS.setUseParentHandlers(true);
    }

    /** One more node like the first. */
    protected final Locks.Builder builder() {
        return Locks.builder(seen.dataSource()).owner("node").leaseDuration(LONG);
    }

    /** Closed at the end, the last first. */
    protected final <T extends AutoCloseable> T closing(T resource) {
        closing.push(resource);
        return resource;
    }

    /** A caller's own transaction. */
    protected final Connection transaction() throws SQLException {
        Connection connection = closing(DriverManager.getConnection(url));
        connection.setAutoCommit(false);
        return connection;
    }

    /** In a transaction of its own. */
    protected final int execute(String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            // the test itself has time to wait for a row that someone in the background has locked
            statement.execute("SET LOCK_TIMEOUT 20000");
            return statement.executeUpdate(sql);
        }
    }

    /** The first column of the lock's row, as a text. */
    protected final String column(String expression, LockName name) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet row =
                        statement.executeQuery("SELECT " + expression + " FROM bitjang_locks WHERE " + is(name))) {
            assertThat(row.next()).as("there is a row of %s", name).isTrue();
            return row.getString(1);
        }
    }

    /** Changes the lock's row behind everybody's back. */
    protected final void set(String assignment, LockName name) throws SQLException {
        assertThat(execute("UPDATE bitjang_locks SET " + assignment + " WHERE " + is(name)))
                .isEqualTo(1);
    }

    /** Its time is over by the database's clock, and nobody here knows. */
    protected final void expire(LockName name) throws SQLException {
        set("expires_at = acquired_at", name);
    }

    /** Locks its row, as a transaction of somebody's does. */
    protected final Connection locked(LockName name) throws SQLException {
        Connection connection = transaction();
        try (Statement statement = connection.createStatement()) {
            statement.executeQuery("SELECT id FROM bitjang_locks WHERE " + is(name) + " FOR UPDATE");
        }
        return connection;
    }

    private static String is(LockName name) {
        return "type = '" + name.type() + "' AND id = '" + name.id() + "'";
    }

    /** From now on no statement of the first node arrives. */
    protected final void down() {
        seen.before(sql -> {
            throw new SQLException("The database is down", "08006");
        });
    }

    /** The next statement of the first node is done, and its answer is lost. */
    protected final void loseNextAnswer() {
        seen.after(sql -> {
            seen.after(later -> {});
            throw new SQLException("The answer is lost", "08006");
        });
    }

    /** A place where statements stop until it is opened. */
    protected final Gate gate() {
        return closing(new Gate());
    }

    /** A place where statements stop until it is opened. */
    protected static final class Gate implements AutoCloseable {

        private final CountDownLatch reached = new CountDownLatch(1);
        private final CountDownLatch open = new CountDownLatch(1);

        private Gate() {}

        /** Stops here. */
        public void pass() {
            reached.countDown();
            try {
                open.await(PATIENCE, TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        /** Returns when someone has come. */
        public void untilReached() throws InterruptedException {
            assertThat(reached.await(PATIENCE, TimeUnit.NANOSECONDS)).isTrue();
        }

        @Override
        public void close() {
            open.countDown();
        }
    }

    /** Work on a thread of its own. */
    protected static final class Job<T> implements AutoCloseable {

        private final FutureTask<T> task;
        private final Thread thread;

        private Job(Callable<T> work) {
            this.task = new FutureTask<>(work);
            this.thread = new Thread(task, "job");
            thread.setDaemon(true);
            thread.start();
        }

        /** What came of it; its own exception if it failed. */
        public T result() throws Exception {
            try {
                return task.get(PATIENCE, TimeUnit.NANOSECONDS);
            } catch (ExecutionException e) {
                throw e.getCause() instanceof Exception cause ? cause : e;
            }
        }

        /** Returns when its thread waits for a lock. */
        public Job<T> untilItWaits() throws Exception {
            return untilItIsIn("work.Waiter.await");
        }

        /** Returns when its thread is there: a part of a class and its method. */
        public Job<T> untilItIsIn(String place) throws Exception {
            eventually(
                    "the thread waits",
                    () -> task.isDone()
                            || Arrays.stream(thread.getStackTrace())
                                    .anyMatch(frame ->
                                            (frame.getClassName() + "." + frame.getMethodName()).contains(place)));
            assertThat(task.isDone()).as("ended without waiting").isFalse();
            return this;
        }

        /** Whether it has ended. */
        public boolean isDone() {
            return task.isDone();
        }

        /** Interrupts it. */
        public void interrupt() {
            thread.interrupt();
        }

        @Override
        public void close() throws InterruptedException {
            thread.interrupt();
            thread.join(TimeUnit.NANOSECONDS.toMillis(PATIENCE));
        }
    }

    /** Begins it. */
    protected final <T> Job<T> start(Callable<T> work) {
        return closing(new Job<>(work));
    }

    /** Polls, for what no latch can tell. */
    protected static void eventually(String promise, Callable<Boolean> condition) throws Exception {
        long begun = System.nanoTime();
        while (!condition.call()) {
            assertThat(System.nanoTime() - begun).as("still not: %s", promise).isLessThan(PATIENCE);
            TimeUnit.MILLISECONDS.sleep(2);
        }
    }

    /** What was told, in order. */
    protected final List<Kind> told() {
        return events.stream().map(LockEvent::kind).toList();
    }

    /** How often it was told. */
    protected final long told(Kind kind) {
        return told().stream().filter(kind::equals).count();
    }

    /** What was said with it the first time. */
    protected final String detail(Kind kind) {
        return events.stream()
                .filter(event -> event.kind() == kind)
                .map(event -> String.valueOf(event.detail()))
                .findFirst()
                .orElseThrow();
    }
}
