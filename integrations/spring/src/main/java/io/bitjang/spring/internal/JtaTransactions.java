// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.internal;

import jakarta.transaction.Status;
import jakarta.transaction.SystemException;
import jakarta.transaction.UserTransaction;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.jta.JtaTransactionManager;

/** The transactions of JTA. Only where JTA is there. */
final class JtaTransactions {

    private JtaTransactions() {}

    static boolean isManagedBy(PlatformTransactionManager manager) {
        return manager instanceof JtaTransactionManager;
    }

    /** Whether the current thread is in one, whoever has begun it. */
    static boolean isActive(PlatformTransactionManager manager) {
        @Nullable
        UserTransaction transaction = manager instanceof JtaTransactionManager jta ? jta.getUserTransaction() : null;
        try {
            return transaction != null && transaction.getStatus() != Status.STATUS_NO_TRANSACTION;
        } catch (SystemException e) {
            throw new IllegalStateException("JTA does not tell whether there is a transaction", e);
        }
    }
}
