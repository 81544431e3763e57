// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.LockManager;
import io.bitjang.Wait;
import jakarta.transaction.Status;
import jakarta.transaction.UserTransaction;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.jta.JtaTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** JTA commits on connections that it does not show: nothing is done under a lease that could not be guarded. */
class JtaTransactionsTest extends OnSpring {

    /** As much of JTA as it takes: one transaction, on one connection. */
    static final class Jta implements UserTransaction {
        private final DataSource source;
        private Connection connection;
        private int status = Status.STATUS_NO_TRANSACTION;

        Jta(DataSource source) {
            this.source = source;
        }

        void write(long account) throws SQLException {
            try (var update =
                    connection.prepareStatement("UPDATE spring_account SET balance = balance + 1 WHERE id = ?")) {
                update.setLong(1, account);
                assertThat(update.executeUpdate()).isOne();
            }
        }

        @Override
        public void begin() {
            try {
                connection = source.getConnection();
                connection.setAutoCommit(false);
                status = Status.STATUS_ACTIVE;
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void commit() {
            end(true);
        }

        @Override
        public void rollback() {
            end(false);
        }

        private void end(boolean commit) {
            try (Connection ending = connection) {
                if (commit) {
                    ending.commit();
                } else {
                    ending.rollback();
                }
                ending.setAutoCommit(true);
                status = Status.STATUS_NO_TRANSACTION;
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void setRollbackOnly() {
            status = Status.STATUS_MARKED_ROLLBACK;
        }

        @Override
        public int getStatus() {
            return status;
        }

        @Override
        public void setTransactionTimeout(int seconds) {}
    }

    @Configuration
    @EnableTransactionManagement
    @EnableLocking
    static class Application {
        @Bean
        Jta jta(DataSource dataSource) {
            return new Jta(dataSource);
        }

        @Bean
        PlatformTransactionManager transactions(Jta jta) {
            return new JtaTransactionManager(jta);
        }

        @Bean
        Accounts accounts(Jta jta) {
            return new Accounts(jta);
        }
    }

    @Configuration
    static class Transactions extends Application {
        @Bean
        Orders orders() {
            return new Orders();
        }
    }

    static class Accounts {
        private final Jta jta;

        Accounts(Jta jta) {
            this.jta = jta;
        }

        @Locked(type = "account", value = "#{#id}")
        public void add(long id) throws SQLException {
            jta.write(id);
        }
    }

    static class Orders {
        @Locked("orders")
        @Transactional
        public void ship() {}
    }

    private AnnotationConfigApplicationContext context;
    private Accounts accounts;
    private Jta jta;

    @BeforeEach
    void start() {
        context = context(Application.class);
        accounts = context.getBean(Accounts.class);
        jta = context.getBean(Jta.class);
    }

    private void takenAway() {
        long fence = other.admin().find(lock).orElseThrow().fence();
        assertThat(other.admin().forceRelease(lock, fence, "admin", "test")).isTrue();
        assertThat(other.lease(lock).tryAcquire()).isPresent();
    }

    @Test
    void nothing_is_written_under_a_lease_by_a_holder_that_may_have_lost_it() {
        LockTemplate template = context.getBean(LockTemplate.class);
        TransactionTemplate transactions = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));

        assertThatThrownBy(() -> template.run(
                        lock,
                        Wait.none(),
                        () -> transactions.execute(status -> {
                            assertThatCode(() -> jta.write(account)).doesNotThrowAnyException();
                            takenAway();
                            return true;
                        })))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("JtaTransactionManager")
                .hasMessageContaining("Use the transaction manager of the data source");

        assertThat(balance()).isZero();
        assertThat(isHeld(lock)).isFalse();
        assertThat(jta.getStatus()).isEqualTo(Status.STATUS_NO_TRANSACTION);
    }

    @Test
    void method_that_could_not_be_guarded_is_told_at_start() {
        assertThatThrownBy(() -> context(Transactions.class))
                .hasStackTraceContaining("Orders.ship could not guard")
                .hasStackTraceContaining("JTA")
                .hasStackTraceContaining("Use the transaction manager of the data source");
    }

    @Test
    void lease_is_not_taken_inside_such_a_transaction() {
        TransactionTemplate transactions = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));

        assertThatThrownBy(() -> transactions.executeWithoutResult(status -> {
                    LockTemplate template = context.getBean(LockTemplate.class);
                    template.run(lock, Wait.none(), () -> trace.add("under the lock"));
                }))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("JtaTransactionManager");

        assertThat(trace).isEmpty();
    }

    @Test
    void lease_is_not_taken_inside_a_transaction_that_spring_has_not_begun() {
        jta.begin();
        try {
            assertThatThrownBy(() -> accounts.add(account))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("JtaTransactionManager");
        } finally {
            jta.commit();
        }

        assertThat(balance()).isZero();
    }

    @Test
    void edit_lock_is_not_checked_in_vain() {
        TransactionTemplate transactions = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
        LockManager manager = context.getBean(LockManager.class);
        var id = manager.tryLock(lock.type(), lock.id(), "kim");

        transactions.executeWithoutResult(
                status -> assertThatThrownBy(() -> manager.checkLock(id)).isInstanceOf(IllegalStateException.class));
    }
}
