// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.p6spy.engine.spy.P6DataSource;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.LockManager;
import io.bitjang.NoLockException;
import io.bitjang.Wait;
import java.sql.Connection;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.Stream;
import javax.sql.DataSource;
import net.ttddyy.dsproxy.support.ProxyDataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

/** Transactions whose data source is not plainly that of the locks: they are guarded or refused, and never neither. */
class HiddenTransactionsTest extends OnSpring {

    @Configuration
    @EnableTransactionManagement
    @EnableLocking
    static class Application {
        @Bean
        Accounts accounts() {
            return new Accounts();
        }
    }

    static class Accounts {
        @Locked(type = "account", value = "#{#id}")
        @Transactional
        public <T> T inTransaction(long id, Supplier<T> body) {
            return body.get();
        }

        @Locked(type = "account", value = "#{#id}")
        public <T> T locked(long id, Supplier<T> body) {
            return body.get();
        }

        @Locked(type = "account", value = "#{#id}", kind = Locked.Kind.SESSION)
        @Transactional
        public <T> T session(long id, Supplier<T> body) {
            return body.get();
        }
    }

    /** A manager of an application's own: nothing shows which connection it commits. */
    static final class OwnTransactions extends AbstractPlatformTransactionManager {
        private static final long serialVersionUID = 1L;

        final AtomicBoolean begun = new AtomicBoolean();

        @Override
        protected Object doGetTransaction() {
            return new Object();
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {
            begun.set(true);
        }

        @Override
        protected void doCommit(DefaultTransactionStatus status) {}

        @Override
        protected void doRollback(DefaultTransactionStatus status) {}
    }

    private Accounts accounts;
    private AnnotationConfigApplicationContext context;

    private TransactionTemplate start(PlatformTransactionManager transactions) {
        context = new AnnotationConfigApplicationContext();
        context.getBeanFactory().registerSingleton("dataSource", pool);
        context.getBeanFactory().registerSingleton("locks", locks);
        context.registerBean(PlatformTransactionManager.class, () -> transactions);
        context.register(Application.class);
        closing(context).refresh();
        accounts = context.getBean(Accounts.class);
        return new TransactionTemplate(transactions);
    }

    private boolean takenAway() {
        long fence = other.admin().find(lock).orElseThrow().fence();
        assertThat(other.admin().forceRelease(lock, fence, "admin", "test")).isTrue();
        assertThat(other.lease(lock).tryAcquire()).isPresent();
        return true;
    }

    private boolean added(DataSource source) {
        return new JdbcTemplate(source).update("UPDATE spring_account SET balance = balance + 1 WHERE id = ?", account)
                == 1;
    }

    /** What hides the data source inside, more or less. */
    static List<DataSource> wrappers(DataSource inside) {
        return List.of(
                new ProxyDataSource(inside),
                new P6DataSource(inside),
                new Opaque(inside),
                new LazyConnectionDataSourceProxy(new ProxyDataSource(inside)),
                new ProxyDataSource(new LazyConnectionDataSourceProxy(inside)),
                new Opaque(new P6DataSource(inside)));
    }

    /** Another pool to the same database is the same hole: what is committed there is seen by the next holder. */
    private Stream<DataSource> waysToTheDatabase() {
        return Stream.concat(wrappers(pool).stream(), Stream.of(closing(database.pool(2))));
    }

    @Test
    void commit_of_a_holder_that_has_lost_its_lock_is_refused_whatever_wraps_the_data_source() {
        waysToTheDatabase().forEach(wrapper -> {
            start(new JdbcTransactionManager(wrapper));

            assertThatThrownBy(() -> accounts.inTransaction(account, () -> added(wrapper) && takenAway()))
                    .as(wrapper.toString())
                    .isInstanceOf(PessimisticLockingFailureException.class)
                    .hasCauseInstanceOf(NoLockException.class);

            assertThat(balance()).as(wrapper.toString()).isZero();
            released();
        });
    }

    /** The other node gives it back, for the next round. */
    private void released() {
        long fence = other.admin().find(lock).orElseThrow().fence();
        other.admin().forceRelease(lock, fence, "admin", "test");
    }

    @Test
    void commit_of_a_holder_that_has_its_lock_goes_through_whatever_wraps_the_data_source() {
        List<DataSource> ways = waysToTheDatabase().toList();
        ways.forEach(wrapper -> {
            start(new JdbcTransactionManager(wrapper));
            assertThat(accounts.inTransaction(account, () -> added(wrapper))).isTrue();
        });

        assertThat(balance()).isEqualTo(ways.size());
        assertThat(isHeld(lock)).isFalse();
    }

    @Test
    void transaction_that_was_there_before_is_guarded_whatever_wraps_the_data_source() {
        waysToTheDatabase().forEach(wrapper -> {
            TransactionTemplate transactions = start(new JdbcTransactionManager(wrapper));

            transactions.executeWithoutResult(status -> accounts.locked(account, () -> {
                assertThat(isPinned()).as(wrapper.toString()).isTrue();
                return added(wrapper);
            }));
        });

        assertThat(isPinned()).isFalse();
    }

    /** Whether a transaction has locked the row of the lock: then a new holder passes it by. */
    private boolean isPinned() {
        return new JdbcTemplate(lockPool)
                .queryForList(
                        "SELECT id FROM bitjang_locks WHERE type = ? AND id = ? FOR UPDATE SKIP LOCKED",
                        lock.type(),
                        lock.id())
                .isEmpty();
    }

    @Test
    void edit_lock_is_guarded_or_refused_whatever_wraps_the_data_source() {
        wrappers(pool).forEach(wrapper -> {
            TransactionTemplate transactions = start(new JdbcTransactionManager(wrapper));
            LockManager manager = context.getBean(LockManager.class);
            var id = manager.tryLock(lock.type(), lock.id(), "kim");

            Throwable refused = catchThrowable(() -> transactions.executeWithoutResult(status -> {
                manager.releaseLock(id);
                assertThat(added(wrapper)).isTrue();
            }));

            assertThat(isHeld(lock)).as(wrapper.toString()).isEqualTo(refused != null);
            if (refused != null) {
                assertThat(refused).isInstanceOf(IllegalStateException.class);
                manager.releaseLock(id);
            }
        });
    }

    @Test
    void transaction_of_another_database_begins_under_a_lock_as_before() {
        JdbcDataSource elsewhere = new JdbcDataSource();
        elsewhere.setUrl("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        JdbcTemplate there = new JdbcTemplate(elsewhere);
        there.execute("CREATE TABLE noted (id INT)");
        start(new JdbcTransactionManager(elsewhere));

        assertThat(accounts.inTransaction(account, () -> there.update("INSERT INTO noted VALUES (1)")))
                .isOne();
        assertThat(accounts.inTransaction(account, () -> there.update("INSERT INTO noted VALUES (2)")))
                .isOne();

        assertThat(there.queryForObject("SELECT count(*) FROM noted", Integer.class))
                .isEqualTo(2);
        there.execute("SHUTDOWN");
    }

    /** A schema that has no tables of locks, in the same database: guarded it can't be, and elsewhere it is not. */
    @Test
    void transaction_of_the_same_database_that_does_not_see_the_tables_of_the_locks_does_not_begin() {
        HikariConfig config = new HikariConfig();
        pool.copyStateTo(config);
        config.setPoolName("blind");
        if (name.matches("mysql|mariadb")) {
            config.setCatalog("information_schema");
        } else {
            config.setSchema(name.equals("h2") ? "INFORMATION_SCHEMA" : "information_schema");
        }
        HikariDataSource blind = closing(new HikariDataSource(config));
        start(new JdbcTransactionManager(blind));

        assertThatThrownBy(() -> accounts.inTransaction(account, () -> trace.add("written")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("does not see their tables");

        assertThat(trace).doesNotContain("written");
        assertThat(isHeld(lock)).isFalse();
    }

    @Test
    void read_only_transaction_that_can_write_all_the_same_is_guarded() {
        TransactionTemplate reading = start(new JdbcTransactionManager(pool));
        reading.setReadOnly(true);

        assertThat(catchThrowable(() ->
                        accounts.locked(account, () -> reading.execute(status -> added(pool) && takenAway()))))
                .isNotNull();

        assertThat(balance()).isZero();
    }

    @Test
    void read_only_transaction_of_which_the_driver_does_not_tell_the_server_is_guarded() {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(database.jdbcUrl());
        config.setUsername(database.user());
        config.setPassword(database.password());
        config.setMaximumPoolSize(2);
        config.setMinimumIdle(0);
        config.setPoolName("careless");
        // each driver knows one of them; H2's has no such setting and never tells
        if (name.equals("postgresql")) {
            config.addDataSourceProperty("readOnlyMode", "ignore");
        } else if (!name.equals("h2")) {
            config.addDataSourceProperty("readOnlyPropagatesToServer", "false");
        }
        HikariDataSource careless = closing(new HikariDataSource(config));
        TransactionTemplate reading = start(new JdbcTransactionManager(careless));
        reading.setReadOnly(true);

        assertThat(catchThrowable(() ->
                        accounts.locked(account, () -> reading.execute(status -> added(careless) && takenAway()))))
                .isNotNull();

        assertThat(balance()).isZero();
    }

    @Test
    void read_only_transaction_around_the_lock_that_can_write_all_the_same_is_guarded() {
        TransactionTemplate reading = start(new JdbcTransactionManager(pool));
        reading.setReadOnly(true);

        AtomicBoolean taken = new AtomicBoolean();
        catchThrowable(() -> reading.executeWithoutResult(status -> {
            accounts.locked(account, () -> added(pool));
            taken.set(other.lease(lock).tryAcquire().isPresent());
        }));

        assertThat(taken.get() && balance() != 0)
                .as("another had it before the commit")
                .isFalse();
    }

    @Test
    void transaction_that_tells_nobody_of_its_end_is_refused() {
        DataSourceTransactionManager silent = new DataSourceTransactionManager(pool);
        silent.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
        TransactionTemplate transactions = start(silent);

        assertThatThrownBy(() -> accounts.inTransaction(account, () -> added(pool)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("transactionSynchronization");
        assertThatThrownBy(() -> transactions.execute(status -> accounts.locked(account, () -> added(pool))))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("transactionSynchronization");

        assertThat(balance()).isZero();
        assertThat(isHeld(lock)).isFalse();
    }

    @Test
    void transaction_of_a_manager_that_shows_nothing_does_not_begin_under_a_lease() {
        OwnTransactions own = new OwnTransactions();
        TransactionTemplate transactions = start(own);

        assertThatThrownBy(() -> accounts.inTransaction(account, () -> added(pool)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("OwnTransactions")
                .hasMessageContaining("JdbcTransactionManager");
        assertThat(own.begun).isFalse();
        assertThatThrownBy(() -> transactions.execute(status -> accounts.locked(account, () -> added(pool))))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("OwnTransactions");
        assertThatThrownBy(() -> transactions.execute(status -> {
                    context.getBean(LockTemplate.class).run(lock, Wait.none(), () -> added(pool));
                    return true;
                }))
                .isInstanceOf(IllegalStateException.class);

        assertThat(balance()).isZero();
        assertThat(isHeld(lock)).isFalse();
        // promises no guard
        assertThat(accounts.session(account, () -> true)).isTrue();
    }

    @Test
    void connection_that_was_only_bound_for_reuse_is_no_transaction() {
        OwnTransactions own = new OwnTransactions();
        start(own);
        new TransactionTemplate(own)
                .executeWithoutResult(status -> assertThat(catchThrowable(() -> {
                            Connection connection = DataSourceUtils.getConnection(pool);
                            DataSourceUtils.releaseConnection(connection, pool);
                            accounts.locked(account, () -> added(pool));
                        }))
                        .isInstanceOf(IllegalStateException.class));

        assertThat(balance()).isZero();
    }
}
