// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.internal;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.jta.JtaTransactionManager;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The transactions of one manager: tells of those that begin, and whether they can be guarded. Some managers show neither the
 * connection of a transaction nor whose it is. Their transactions can't be guarded, and are refused under a lease. Thread-safe.
 */
final class ManagedTransactions implements TransactionExecutionListener {

    private static final boolean JTA =
            ClassUtils.isPresent("jakarta.transaction.UserTransaction", ManagedTransactions.class.getClassLoader());

    static final String JTA_SHOWS_NOTHING = "JTA does not show the JDBC connection with which it commits.";
    static final String INSTEAD =
            " A holder that had lost its lock could commit. Use the transaction manager of the data source"
                    + " (JdbcTransactionManager, JpaTransactionManager) for what is done under a lock, a lock of the kind SESSION,"
                    + " which promises no guard, or begin no transaction under the lock and call Lease.guard with the transaction's"
                    + " own connection.";

    /** Managers of transactions that have nothing to do with any database. */
    private static final Set<String> WITHOUT_RESOURCES = Set.of(
            "org.springframework.batch.infrastructure.support.transaction.ResourcelessTransactionManager",
            "org.springframework.batch.support.transaction.ResourcelessTransactionManager",
            "org.springframework.integration.transaction.PseudoTransactionManager");

    private final PlatformTransactionManager manager;
    private final LockScopes scopes;
    private final boolean jta;
    private final boolean hidden;

    ManagedTransactions(PlatformTransactionManager manager, LockScopes scopes) {
        this.manager = manager;
        this.scopes = scopes;
        this.jta = JTA && JtaTransactions.isManagedBy(manager);
        this.hidden = jta || !(manager instanceof ResourceTransactionManager) && !isWithoutResources(manager);
    }

    private static boolean isWithoutResources(PlatformTransactionManager manager) {
        return WITHOUT_RESOURCES.contains(ClassUtils.getUserClass(manager).getName());
    }

    /** Whether an application has transactions of JTA only. Makes no bean. */
    static boolean areAllOfJta(ListableBeanFactory beans) {
        if (!JTA) {
            return false;
        }
        String[] managers = beans.getBeanNamesForType(PlatformTransactionManager.class, true, false);
        return managers.length > 0
                && Arrays.stream(managers).allMatch(name -> beans.isTypeMatch(name, JtaTransactionManager.class));
    }

    boolean isOf(LockScopes others) {
        return scopes.equals(others);
    }

    /** Whether it shows nothing of its transactions. */
    boolean isHidden() {
        return hidden;
    }

    /** Whether the current thread is in such a transaction, as far as that can be known. */
    boolean isActive() {
        return jta && JtaTransactions.isActive(manager)
                || TransactionSynchronizationManager.isSynchronizationActive()
                        && TransactionSynchronizationManager.getSynchronizations().stream()
                                .anyMatch(each -> each instanceof Begun begun && begun.by == this);
    }

    /** What to say of a transaction that can't be guarded. */
    IllegalStateException refused(String who) {
        return new IllegalStateException(who + " can't guard a transaction of "
                + manager.getClass().getName() + ". "
                + (jta
                        ? JTA_SHOWS_NOTHING
                        : "It is no ResourceTransactionManager, so it does not show its data source.")
                + INSTEAD);
    }

    /** Throws if what it is about to begin could not be guarded, or that can't be told. */
    void requireGuardable(SpringTransactions ours) {
        if (hidden) {
            throw refused("A lock");
        }
        if (manager instanceof AbstractPlatformTransactionManager spring
                && spring.getTransactionSynchronization() == AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER
                && isOurs(ours)) {
            throw new IllegalStateException(SpringTransactions.SILENT);
        }
        isOurs(ours);
    }

    private boolean isOurs(SpringTransactions ours) {
        if (!(manager instanceof ResourceTransactionManager resources)) {
            return false;
        }
        Object factory = resources.getResourceFactory();
        @Nullable DataSource shown = factory instanceof DataSource itself ? itself : dataSource();
        return ours.isOurs(shown == null ? factory : shown);
    }

    /** As managers of JPA tell, in the same words. */
    private @Nullable DataSource dataSource() {
        @Nullable Method getter = ReflectionUtils.findMethod(manager.getClass(), "getDataSource");
        return getter != null && DataSource.class.isAssignableFrom(getter.getReturnType())
                ? (DataSource) ReflectionUtils.invokeMethod(getter, manager)
                : null;
    }

    @Override
    public void beforeBegin(TransactionExecution transaction) {
        scopes.beforeBegin(this, transaction);
    }

    @Override
    public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
        if (failure != null) {
            return;
        }
        if (hidden && transaction.isNewTransaction() && TransactionSynchronizationManager.isSynchronizationActive()) {
            TransactionSynchronizationManager.registerSynchronization(new Begun(this));
        }
        scopes.afterBegin(transaction);
    }

    /** The mark of a transaction that shows nothing of itself. */
    private record Begun(ManagedTransactions by) implements TransactionSynchronization {}
}
