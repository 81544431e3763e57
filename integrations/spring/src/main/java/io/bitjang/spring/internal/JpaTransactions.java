// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.internal;

import jakarta.persistence.EntityTransaction;
import java.util.Map;
import java.util.function.Predicate;
import javax.sql.DataSource;
import org.springframework.orm.jpa.EntityManagerFactoryInfo;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** The transactions of JPA that the current thread has. Only where JPA and Spring's support for it are there. */
final class JpaTransactions {

    private JpaTransactions() {}

    /** Those of these data sources can't be committed any more. */
    static void setRollbackOnly(Predicate<DataSource> ours) {
        for (Map.Entry<Object, Object> resource :
                TransactionSynchronizationManager.getResourceMap().entrySet()) {
            if (resource.getValue() instanceof EntityManagerHolder holder && isOf(resource.getKey(), ours)) {
                EntityTransaction transaction = holder.getEntityManager().getTransaction();
                if (transaction.isActive()) {
                    transaction.setRollbackOnly();
                }
            }
        }
    }

    private static boolean isOf(Object factory, Predicate<DataSource> ours) {
        DataSource dataSource = factory instanceof EntityManagerFactoryInfo info ? info.getDataSource() : null;
        return dataSource != null && ours.test(dataSource);
    }
}
