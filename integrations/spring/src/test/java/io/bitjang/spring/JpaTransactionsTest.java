// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.bitjang.LockId;
import io.bitjang.LockManager;
import io.bitjang.NoLockException;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.hibernate.engine.jdbc.connections.internal.DatasourceConnectionProviderImpl;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.orm.jpa.DefaultJpaDialect;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.SharedEntityManagerCreator;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

/** JPA's transactions: the manager exposes its JDBC connection, but looks at no flag on it. */
class JpaTransactionsTest extends OnSpring {

    @Entity(name = "SpringAccount")
    @Table(name = "spring_account")
    static class Account {
        @Id
        long id;

        int balance;
    }

    @Configuration
    @EnableTransactionManagement
    @EnableLocking
    static class Application {
        @Bean
        LocalContainerEntityManagerFactoryBean entityManagerFactory(DataSource dataSource) {
            LocalContainerEntityManagerFactoryBean factory = new LocalContainerEntityManagerFactoryBean();
            factory.setDataSource(dataSource);
            factory.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
            factory.setManagedTypes(
                    org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes.of(Account.class.getName()));
            return factory;
        }

        @Bean
        JpaTransactionManager transactionManager(EntityManagerFactory factory) {
            return new JpaTransactionManager(factory);
        }

        @Bean
        Accounts accounts(EntityManagerFactory factory) {
            return new Accounts(SharedEntityManagerCreator.createSharedEntityManager(factory));
        }
    }

    static class Accounts {
        private final EntityManager entities;

        Accounts(EntityManager entities) {
            this.entities = entities;
        }

        @Locked(type = "account", value = "#{#id}")
        @Transactional
        public <T> T add(long id, Supplier<T> more) {
            entities.find(Account.class, id).balance++;
            return more.get();
        }

        public Account find(long id) {
            return entities.find(Account.class, id);
        }
    }

    /** Shows no JDBC connection: Spring binds none. */
    @Configuration
    static class WithoutConnection extends Application {
        @Bean
        @Override
        LocalContainerEntityManagerFactoryBean entityManagerFactory(DataSource dataSource) {
            LocalContainerEntityManagerFactoryBean factory = super.entityManagerFactory(dataSource);
            factory.setJpaDialect(new DefaultJpaDialect());
            return factory;
        }
    }

    /** Knows no data source: JPA gets its connections by itself. */
    @Configuration
    static class WithoutDataSource extends Application {
        @Bean
        @Override
        LocalContainerEntityManagerFactoryBean entityManagerFactory(DataSource dataSource) {
            LocalContainerEntityManagerFactoryBean factory = super.entityManagerFactory(dataSource);
            factory.setDataSource(null);
            factory.setPersistenceUnitName("hidden");
            factory.getJpaPropertyMap()
                    .put("hibernate.connection.provider_class", new DatasourceConnectionProviderImpl() {
                        private static final long serialVersionUID = 1L;

                        @Override
                        public Connection getConnection() throws SQLException {
                            return dataSource.getConnection();
                        }

                        @Override
                        public void configure(Map<String, Object> settings) {
                            setDataSource(dataSource);
                            super.configure(settings);
                        }
                    });
            return factory;
        }
    }

    private Accounts accounts;
    private LockManager manager;
    private TransactionTemplate tx;

    @BeforeEach
    void start() {
        start(Application.class);
    }

    private void start(Class<?> configuration) {
        AnnotationConfigApplicationContext context = context(configuration);
        accounts = context.getBean(Accounts.class);
        manager = context.getBean(LockManager.class);
        tx = new TransactionTemplate(context.getBean(JpaTransactionManager.class));
    }

    private boolean takenAway() {
        long fence = other.admin().find(lock).orElseThrow().fence();
        assertThat(other.admin().forceRelease(lock, fence, "admin", "test")).isTrue();
        assertThat(other.lease(lock).tryAcquire()).isPresent();
        return true;
    }

    @Test
    void check_guards_and_release_comes_with_the_commit() {
        LockId id = manager.tryLock(lock.type(), lock.id(), "kim");

        tx.executeWithoutResult(s -> {
            manager.checkLock(id);
            accounts.find(account).balance++;
            manager.releaseLock(id);
            assertThat(other.lease(lock).tryAcquire()).isEmpty();
        });

        assertThat(balance()).isOne();
        assertThat(isHeld(lock)).isFalse();
    }

    @Test
    void failed_guard_whose_exception_is_caught_keeps_everything_from_being_committed() {
        LockId id = manager.tryLock(lock.type(), lock.id(), "kim");
        takenAway();

        assertThatThrownBy(() -> tx.executeWithoutResult(s -> {
                    accounts.find(account).balance++;
                    assertThat(catchThrowable(() -> manager.checkLock(id))).isInstanceOf(NoLockException.class);
                    accounts.find(account).balance++;
                }))
                .isInstanceOf(NoLockException.class);

        assertThat(balance()).isZero();
    }

    @Test
    void commit_of_a_holder_that_has_lost_its_lock_is_refused() {
        assertThatThrownBy(() -> accounts.add(account, this::takenAway))
                .isInstanceOf(PessimisticLockingFailureException.class)
                .hasCauseInstanceOf(NoLockException.class);

        assertThat(balance()).isZero();
    }

    @Test
    void commit_of_a_holder_that_has_its_lock_goes_through() {
        assertThat(accounts.add(account, () -> true)).isTrue();

        assertThat(balance()).isOne();
        assertThat(isHeld(lock)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(classes = {WithoutConnection.class, WithoutDataSource.class})
    void commit_of_a_holder_that_has_lost_its_lock_is_refused_even_if_no_connection_is_shown(Class<?> configuration) {
        start(configuration);

        assertThatThrownBy(() -> accounts.add(account, this::takenAway))
                .isInstanceOf(PessimisticLockingFailureException.class)
                .hasCauseInstanceOf(NoLockException.class);

        assertThat(balance()).isZero();
    }

    @ParameterizedTest
    @ValueSource(classes = {WithoutConnection.class, WithoutDataSource.class})
    void commit_of_a_holder_that_has_its_lock_goes_through_even_if_no_connection_is_shown(Class<?> configuration) {
        start(configuration);

        assertThat(accounts.add(account, () -> true)).isTrue();

        assertThat(balance()).isOne();
    }

    @ParameterizedTest
    @ValueSource(classes = {WithoutConnection.class, WithoutDataSource.class})
    void edit_lock_is_guarded_or_refused_even_if_no_connection_is_shown(Class<?> configuration) {
        start(configuration);
        LockId id = manager.tryLock(lock.type(), lock.id(), "kim");
        takenAway();

        assertThat(catchThrowable(() -> tx.executeWithoutResult(s -> {
                    accounts.find(account).balance++;
                    assertThat(catchThrowable(() -> manager.checkLock(id)))
                            .isInstanceOfAny(NoLockException.class, IllegalStateException.class);
                    throw new IllegalStateException("as it says");
                })))
                .isNotNull();

        assertThat(balance()).isZero();
    }
}
