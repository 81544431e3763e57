// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.LockId;
import io.bitjang.LockManager;
import io.bitjang.Wait;
import io.bitjang.jpa.AggregateLocks;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.Version;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.orm.jpa.SharedEntityManagerCreator;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

class AggregateLocksTest {

    private final ApplicationContextRunner withJpa = Apps.plain()
            .withConfiguration(AutoConfigurations.of(HibernateJpaAutoConfiguration.class))
            .withUserConfiguration(Entities.class);

    @Test
    void aggregates_are_locked_in_the_transaction_that_runs() {
        withJpa.run(context -> {
            AggregateLocks aggregates = context.getBean(AggregateLocks.class);
            EntityManager entities = SharedEntityManagerCreator.createSharedEntityManager(
                    context.getBean(jakarta.persistence.EntityManagerFactory.class));
            TransactionTemplate transaction =
                    new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
            transaction.executeWithoutResult(status -> entities.persist(new Parcel(1)));
            transaction.executeWithoutResult(status -> assertThat(aggregates.lock(Parcel.class, 1L, Wait.none()))
                    .isSameAs(entities.find(Parcel.class, 1L)));
            assertThatThrownBy(() -> aggregates.lock(Parcel.class, 1L, Wait.none()))
                    .hasStackTraceContaining("TransactionRequired");
        });
    }

    @Test
    void offline_locks_follow_the_transactions_of_jpa() {
        withJpa.run(context -> {
            LockManager manager = context.getBean(LockManager.class);
            LockId mine = manager.tryLock("parcel", "1");
            new TransactionTemplate(context.getBean(PlatformTransactionManager.class)).executeWithoutResult(status -> {
                manager.releaseLock(mine);
                status.setRollbackOnly();
            });
            assertThat(manager.checkLock(mine).held()).isTrue();
        });
    }

    @Test
    void without_the_module_for_jpa_there_are_none() {
        withJpa.withClassLoader(new FilteredClassLoader("io.bitjang.jpa"))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(AggregateLocks.class));
    }

    @Configuration(proxyBeanMethods = false)
    @EntityScan(basePackageClasses = AggregateLocksTest.class)
    static class Entities {}

    /** Something with a version. */
    @Entity(name = "Parcel")
    static class Parcel {

        @Id
        private long id;

        @Version
        private int version;

        protected Parcel() {}

        Parcel(long id) {
            this.id = id;
        }
    }
}
