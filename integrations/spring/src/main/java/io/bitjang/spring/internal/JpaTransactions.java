// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.internal;

import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.EntityTransaction;
import java.sql.Connection;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.orm.jpa.EntityManagerFactoryInfo;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** The transactions of JPA that the current thread has. Only where JPA and Spring's support for it are there. */
final class JpaTransactions {

    private JpaTransactions() {}

    static boolean isFactory(@Nullable Object factory) {
        return factory instanceof EntityManagerFactory;
    }

    /** The data source of an entity manager factory, as far as it tells. */
    static @Nullable DataSource dataSource(Object factory) {
        return factory instanceof EntityManagerFactoryInfo info ? info.getDataSource() : null;
    }

    /** The transaction of one of these entity manager factories, by the connection of its entity manager. */
    static @Nullable Joined find(Predicate<Object> ours) {
        for (Map.Entry<Object, Object> resource :
                TransactionSynchronizationManager.getResourceMap().entrySet()) {
            if (resource.getValue() instanceof EntityManagerHolder holder
                    && isActive(holder)
                    && ours.test(resource.getKey())) {
                EntityManager entities = holder.getEntityManager();
                return new Joined(work -> run(entities, work), () -> setRollbackOnly(holder));
            }
        }
        return null;
    }

    /** In a transaction of its own, which is rolled back. */
    static void inOwnTransaction(Object factory, Consumer<Connection> work) {
        // Spring's factories make entity managers that would join the current transaction
        EntityManagerFactory plain = factory instanceof EntityManagerFactoryInfo info
                ? info.getNativeEntityManagerFactory()
                : (EntityManagerFactory) factory;
        EntityManager entities = plain.createEntityManager();
        try {
            entities.getTransaction().begin();
            run(entities, work);
        } finally {
            if (entities.getTransaction().isActive()) {
                entities.getTransaction().rollback();
            }
            entities.close();
        }
    }

    private static void run(EntityManager entities, Consumer<Connection> work) {
        entities.<Connection>runWithConnection(work::accept);
    }

    /** Those of these factories can't be committed any more. */
    static void setRollbackOnly(Predicate<Object> ours) {
        for (Map.Entry<Object, Object> resource :
                TransactionSynchronizationManager.getResourceMap().entrySet()) {
            if (resource.getValue() instanceof EntityManagerHolder holder && ours.test(resource.getKey())) {
                setRollbackOnly(holder);
            }
        }
    }

    private static void setRollbackOnly(EntityManagerHolder holder) {
        if (isActive(holder)) {
            holder.getEntityManager().getTransaction().setRollbackOnly();
        }
    }

    private static boolean isActive(EntityManagerHolder holder) {
        try {
            EntityTransaction transaction = holder.getEntityManager().getTransaction();
            return transaction.isActive();
        } catch (IllegalStateException e) {
            return false; // one of JTA
        }
    }
}
