// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.LockData;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.spi.LockEvent;
import io.bitjang.testkit.TestDatabase;
import io.bitjang.testkit.TestDatabases;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A test that runs on each database: a pool for the business, a small one for the locks, and an account whose balance is the
 * business data.
 */
@ParameterizedClass(name = "{0}")
@MethodSource("databases")
public abstract class OnSpring {

    /** Long enough for a loaded machine. */
    protected static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final AtomicLong NUMBERS = new AtomicLong(1);

    /** The database's name. */
    @Parameter
    protected String name;

    /** Threads that end with the test. */
    protected final ExecutorService threads = Executors.newCachedThreadPool();

    /** What happened: the locks of {@link #locks} are noted as {@code lock} and {@code unlock}. */
    protected final List<String> trace = new CopyOnWriteArrayList<>();

    /** A lock of {@link #locks} was lost. */
    protected final CountDownLatch lost = new CountDownLatch(1);

    private final Deque<AutoCloseable> closings = new ArrayDeque<>();

    /** The database. */
    protected TestDatabase database;

    /** The pool of the business. */
    protected HikariDataSource pool;

    /** The pool of the locks. */
    protected HikariDataSource lockPool;

    /** The locks. */
    protected Locks locks;

    /** Another node's locks. */
    protected Locks other;

    /** On the business pool. */
    protected JdbcTemplate jdbc;

    /** The number of the account, whose balance is 0 at first. */
    protected long account;

    /** The lock of the account. */
    protected LockName lock;

    /** The databases to test on. */
    public static List<String> databases() {
        return TestDatabases.selected();
    }

    @BeforeEach
    final void open() {
        database = TestDatabases.byName(name);
        database.execute("CREATE TABLE IF NOT EXISTS spring_account (id BIGINT PRIMARY KEY, balance INT NOT NULL)");
        pool = closing(database.pool(5));
        lockPool = closing(database.pool(4));
        locks = closing(
                Locks.builder(lockPool).owner("one").listener(this::note).build());
        other = closing(Locks.builder(lockPool).owner("two").build());
        jdbc = new JdbcTemplate(pool);
        account = System.nanoTime() * 1000 + number();
        lock = LockName.of("account", String.valueOf(account));
        jdbc.update("INSERT INTO spring_account VALUES (?, 0)", account);
    }

    @AfterEach
    final void close() throws Exception {
        threads.shutdownNow();
        assertThat(threads.awaitTermination(PATIENCE.toSeconds(), SECONDS)).isTrue();
        while (!closings.isEmpty()) {
            closings.pop().close();
        }
    }

    private void note(LockEvent event) {
        switch (event.kind()) {
            case ACQUIRED, TAKEN_OVER, HANDED_OVER -> trace.add("lock");
            case RELEASED -> trace.add("unlock");
            case LOST -> lost.countDown();
            default -> {}
        }
    }

    /** A context with {@code dataSource} and {@code locks} of this test, which ends with the test. */
    protected final AnnotationConfigApplicationContext context(Class<?>... configurations) {
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        context.getBeanFactory().registerSingleton("dataSource", pool);
        context.getBeanFactory().registerSingleton("locks", locks);
        context.getBeanFactory().registerSingleton("trace", new Trace(trace));
        context.register(configurations);
        closing(context);
        context.refresh();
        return context;
    }

    /** What happened, as a bean. */
    public record Trace(List<String> steps) {

        /** One more step. */
        public void add(String step) {
            steps.add(step);
        }
    }

    /** Transactions that are noted. */
    public static final class TracedTransactions extends JdbcTransactionManager {

        private static final long serialVersionUID = 1L;

        private final transient Trace trace;

        /** Of this data source. */
        public TracedTransactions(DataSource dataSource, Trace trace) {
            super(dataSource);
            this.trace = trace;
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {
            trace.add("begin");
            super.doBegin(transaction, definition);
        }

        @Override
        protected void doCommit(DefaultTransactionStatus status) {
            super.doCommit(status);
            trace.add("commit");
        }

        @Override
        protected void doRollback(DefaultTransactionStatus status) {
            super.doRollback(status);
            trace.add("rollback");
        }
    }

    /** Closes it after the test. */
    protected final <T extends AutoCloseable> T closing(T resource) {
        closings.push(resource);
        return resource;
    }

    /** A number that no other test uses. */
    protected static long number() {
        return NUMBERS.getAndIncrement();
    }

    /** A transaction of the business pool. */
    protected final TransactionTemplate transaction() {
        return new TransactionTemplate(new DataSourceTransactionManager(pool));
    }

    /** Adds to the balance, in the current transaction. */
    protected final void add(int amount) {
        assertThat(jdbc.update("UPDATE spring_account SET balance = balance + ? WHERE id = ?", amount, account))
                .isOne();
    }

    /** The balance, as the current transaction sees it. */
    protected final int balance() {
        Integer balance =
                jdbc.queryForObject("SELECT balance FROM spring_account WHERE id = ?", Integer.class, account);
        assertThat(balance).isNotNull();
        return balance;
    }

    /** Whether someone holds the lock. */
    protected final boolean isHeld(LockName held) {
        return locks.admin().find(held).filter(LockData::held).isPresent();
    }

    /**
     * Waits until the lock has run out by the database's clock, in the hands of whoever has it. A lease may be free by then: its
     * process gives back what has run out, in case a renewal was late.
     */
    protected final void awaitLapse(LockName lapsing) throws Exception {
        await(
                "the lapse of " + lapsing,
                () -> locks.admin().find(lapsing).filter(data -> !data.held()).isPresent());
    }

    /** Waits for what no latch can tell. */
    protected static void await(String what, Callable<Boolean> condition) throws Exception {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.call()) {
            assertThat(System.nanoTime()).as("time to wait for " + what).isLessThan(deadline);
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }

    /** Waits for the latch. */
    protected static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(PATIENCE.toSeconds(), SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** What the other thread came to. */
    protected static <T> T result(Future<T> future) throws Exception {
        return future.get(PATIENCE.toSeconds(), SECONDS);
    }
}
