// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.internal;

import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import javax.sql.DataSource;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.SimpleConnectionHandle;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The Spring transactions of one data source, as they are bound to the current thread.
 *
 * <p>A transaction manager binds the connection of its transaction under its data source. It may know that data source by a proxy,
 * or we may, so the two are compared by what is inside the proxies. Thread-safe.
 */
public final class SpringTransactions {

    private static final boolean JPA = ClassUtils.isPresent(
                    "org.springframework.orm.jpa.EntityManagerHolder", SpringTransactions.class.getClassLoader())
            && ClassUtils.isPresent("jakarta.persistence.EntityManager", SpringTransactions.class.getClassLoader());
    private static final @Nullable Method IS_ACTIVE =
            ReflectionUtils.findMethod(ConnectionHolder.class, "isTransactionActive");

    static {
        if (IS_ACTIVE != null) {
            ReflectionUtils.makeAccessible(IS_ACTIVE);
        }
    }

    private record Bound(DataSource key, ConnectionHolder holder) {}

    private final DataSource target;
    private final Consumer<String> complaints;

    /** Of this data source. */
    public SpringTransactions(DataSource dataSource) {
        this(dataSource, LogFactory.getLog(SpringTransactions.class)::error);
    }

    SpringTransactions(DataSource dataSource, Consumer<String> complaints) {
        this.complaints = complaints;
        this.target = innermost(Objects.requireNonNull(dataSource, "dataSource"));
    }

    /**
     * Whether the current thread is in an actual transaction of the data source.
     *
     * @throws IllegalStateException if it is in a transaction, but not in one that can be joined
     */
    public boolean isActive() {
        @Nullable Bound bound = find();
        if (bound == null) {
            if (TransactionSynchronizationManager.isActualTransactionActive()) {
                throw new IllegalStateException("The current transaction"
                        + named(TransactionSynchronizationManager.getCurrentTransactionName())
                        + " is not one of the data source that the locks follow, so the lock could not be guarded until"
                        + " its commit. Use the transaction manager of that data source (a JPA one must expose its JDBC"
                        + " connections: set its data source), or call this outside of the transaction.");
            }
            return false;
        }
        if (!TransactionSynchronizationManager.isSynchronizationActive()) {
            throw new IllegalStateException(
                    "The current transaction has no synchronization, which a lock needs to follow"
                            + " it. Set the transaction manager's transactionSynchronization to SYNCHRONIZATION_ALWAYS or"
                            + " SYNCHRONIZATION_ON_ACTUAL_TRANSACTION.");
        }
        return true;
    }

    /** Whether the current thread is in a transaction of the data source that can be joined; never complains. */
    public boolean isJoinable() {
        return find() != null && TransactionSynchronizationManager.isSynchronizationActive();
    }

    /** Whether the current transaction is read-only. */
    public static boolean isReadOnly() {
        return TransactionSynchronizationManager.isCurrentTransactionReadOnly();
    }

    /**
     * Calls a guard on the connection of the current transaction. If it fails, for whatever reason, the transaction can't be
     * committed any more, even if the application catches the exception: the guard has rolled it back already, so what would be
     * committed is only what comes after.
     */
    public <T extends @Nullable Object> T guarded(Function<Connection, T> guard) {
        Bound bound = Objects.requireNonNull(find(), "no transaction");
        try {
            return onConnection(bound, guard);
        } catch (RuntimeException | Error e) {
            refuseCommit(bound, e);
            throw e;
        }
    }

    /** Calls a guard on the connection of a transaction that is just being committed, and is rolled back if this throws. */
    void guardedAtCommit(Function<Connection, ?> guard) {
        onConnection(Objects.requireNonNull(find(), "no transaction"), guard);
    }

    private static <T extends @Nullable Object> T onConnection(Bound bound, Function<Connection, T> guard) {
        Connection connection = DataSourceUtils.getConnection(bound.key);
        try {
            return guard.apply(connection);
        } finally {
            DataSourceUtils.releaseConnection(connection, bound.key);
        }
    }

    private void refuseCommit(Bound bound, Throwable reason) {
        // enough for the managers of plain JDBC; JPA's look elsewhere
        bound.holder.setRollbackOnly();
        if (JPA) {
            JpaTransactions.setRollbackOnly(dataSource -> innermost(dataSource).equals(target));
        }
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void beforeCommit(boolean readOnly) {
                ReflectionUtils.rethrowRuntimeException(reason);
            }

            /** Who guards in a beforeCommit of their own, and catches this, is committed past both: what came after is undone. */
            @Override
            public void beforeCompletion() {
                onConnection(bound, SpringTransactions::rolledBack);
            }
        });
    }

    private static boolean rolledBack(Connection connection) {
        try {
            connection.rollback();
            return true;
        } catch (SQLException e) {
            throw new TransactionSystemException("What came after a guard that failed could not be rolled back", e);
        }
    }

    /**
     * Says so if what was just done came too late: in an {@code afterCommit}, where the transaction still seems to be there, nobody
     * commits it.
     */
    public void requireInTime(String what) {
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            private boolean inTime;

            @Override
            public void beforeCompletion() {
                inTime = true;
            }

            @Override
            public void afterCompletion(int status) {
                if (!inTime && status == STATUS_COMMITTED) {
                    complaints.accept(
                            what + " after the transaction had been committed, so nobody may ever commit that, and the"
                                    + " lock stays taken until it expires. In an afterCommit, do it in a transaction of its own"
                                    + " (REQUIRES_NEW).");
                }
            }
        });
    }

    private @Nullable Bound find() {
        for (Map.Entry<Object, Object> resource :
                TransactionSynchronizationManager.getResourceMap().entrySet()) {
            if (resource.getKey() instanceof DataSource key
                    && resource.getValue() instanceof ConnectionHolder holder
                    && innermost(key).equals(target)
                    && isOfTransaction(holder)) {
                return new Bound(key, holder);
            }
        }
        return null;
    }

    /**
     * Whether a transaction manager has begun a transaction on it. Otherwise it was only bound for re-use, inside the transaction
     * of another manager, and nobody would commit it.
     */
    private static boolean isOfTransaction(ConnectionHolder holder) {
        if (!(holder.getConnectionHandle() instanceof SimpleConnectionHandle)) {
            // bound by a JPA transaction manager, which tells nothing else about it
            return holder.getConnectionHandle() != null && !holder.isVoid();
        }
        return IS_ACTIVE == null || Boolean.TRUE.equals(ReflectionUtils.invokeMethod(IS_ACTIVE, holder));
    }

    private static DataSource innermost(DataSource dataSource) {
        DataSource found = dataSource;
        while (found instanceof DelegatingDataSource proxy && proxy.getTargetDataSource() != null) {
            found = proxy.getTargetDataSource();
        }
        return found;
    }

    private static String named(@Nullable String name) {
        return name == null ? "" : " (" + name + ")";
    }
}
