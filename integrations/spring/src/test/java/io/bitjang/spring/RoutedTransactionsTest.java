// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.p6spy.engine.spy.P6DataSource;
import io.bitjang.Wait;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** A transaction manager on a routing data source, while the locks follow a plain one. */
class RoutedTransactionsTest extends OnSpring {

    private static final int ROUNDS = 5;

    @Configuration
    @EnableLocking
    static class Application {}

    /** Leads where the test says. */
    private static class Routing extends AbstractRoutingDataSource {

        final AtomicReference<String> key = new AtomicReference<>();

        Routing(Map<Object, Object> targets) {
            setTargetDataSources(targets);
            afterPropertiesSet();
        }

        @Override
        protected Object determineCurrentLookupKey() {
            return key.get();
        }
    }

    /** Hides its targets: it may have changed what it gives. */
    private static final class OwnConnections extends Routing {

        final AtomicInteger given = new AtomicInteger();

        OwnConnections(Map<Object, Object> targets) {
            super(targets);
        }

        @Override
        public Connection getConnection() throws SQLException {
            given.incrementAndGet();
            return super.getConnection();
        }
    }

    private final AtomicInteger questions = new AtomicInteger();
    private LockTemplate template;
    private TransactionTemplate transactions;
    private JdbcTemplate routed;

    private void start(DataSource source) {
        JdbcTransactionManager manager = new JdbcTransactionManager(source);
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        context.getBeanFactory().registerSingleton("dataSource", pool);
        context.getBeanFactory().registerSingleton("locks", locks);
        context.registerBean(PlatformTransactionManager.class, () -> manager);
        context.register(Application.class);
        closing(context).refresh();
        template = context.getBean(LockTemplate.class);
        transactions = new TransactionTemplate(manager);
        routed = new JdbcTemplate(source);
    }

    private void addUnderTheLock() {
        trace.clear();
        template.run(
                lock,
                Wait.none(),
                () -> transactions.executeWithoutResult(status ->
                        routed.update("UPDATE spring_account SET balance = balance + 1 WHERE id = ?", account)));
        questions.addAndGet(
                (int) trace.stream().filter(step -> step.equals("lock")).count() - 1);
    }

    private void assertThatALossIsRefused() {
        int before = balance();
        assertThatThrownBy(() -> template.run(
                        lock,
                        Wait.none(),
                        () -> transactions.executeWithoutResult(status -> {
                            routed.update("UPDATE spring_account SET balance = balance + 1 WHERE id = ?", account);
                            long fence = other.admin().find(lock).orElseThrow().fence();
                            assertThat(other.admin().forceRelease(lock, fence, "admin", "test"))
                                    .isTrue();
                        })))
                .isInstanceOf(PessimisticLockingFailureException.class);
        assertThat(balance()).isEqualTo(before);
    }

    private long rowsOfQuestions() {
        return new JdbcTemplate(lockPool)
                .queryForObject("SELECT count(*) FROM bitjang_locks WHERE type = 'bitjang'", Long.class);
    }

    @Test
    void target_that_is_the_data_source_of_the_locks_is_known_without_a_question() {
        Routing routing = new Routing(Map.of("main", pool));
        routing.key.set("main");
        long before = rowsOfQuestions();
        for (DataSource source :
                List.of(routing, new LazyConnectionDataSourceProxy(routing), new P6DataSource(routing))) {
            start(source);

            for (int i = 0; i < ROUNDS; i++) {
                addUnderTheLock();
            }
            assertThatALossIsRefused();
        }

        assertThat(questions).hasValue(0);
        assertThat(rowsOfQuestions()).isEqualTo(before);
    }

    @Test
    void each_target_is_asked_for_once() {
        JdbcDataSource elsewhere = new JdbcDataSource();
        elsewhere.setUrl("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        JdbcTemplate there = new JdbcTemplate(elsewhere);
        there.execute("CREATE TABLE spring_account (id BIGINT, balance INT)");
        Routing inner = new Routing(Map.of("here", closing(database.pool(2))));
        inner.key.set("here");
        Routing routing = new Routing(Map.of("here", inner, "there", elsewhere));
        start(routing);

        for (int i = 0; i < ROUNDS; i++) {
            routing.key.set("there");
            addUnderTheLock();
            routing.key.set("here");
            addUnderTheLock();
        }

        assertThat(questions).hasValue(2);
        assertThat(balance()).isEqualTo(ROUNDS);
        assertThatALossIsRefused();
        there.execute("SHUTDOWN");
    }

    @Test
    void questions_leave_no_more_rows_the_more_are_asked() {
        OwnConnections routing = new OwnConnections(Map.of("here", closing(database.pool(3))));
        routing.key.set("here");
        start(routing);
        addUnderTheLock();
        long before = rowsOfQuestions();

        for (int i = 0; i < ROUNDS; i++) {
            addUnderTheLock();
        }

        assertThat(questions).hasValueGreaterThan(ROUNDS);
        assertThat(rowsOfQuestions()).isEqualTo(before);
        assertThat(routing.given).hasValueGreaterThan(ROUNDS);
        assertThatALossIsRefused();
    }
}
