// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.internal;

import io.bitjang.LockId;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import javax.sql.DataSource;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceUtils;
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
 * or we may, so the two are compared by what is inside the proxies; where a proxy hides that, the database itself is asked, if it is
 * known. JPA may show its entity manager only: then the connection comes from there. Thread-safe.
 */
public final class SpringTransactions {

    private static final boolean JPA = ClassUtils.isPresent(
                    "org.springframework.orm.jpa.EntityManagerHolder", SpringTransactions.class.getClassLoader())
            && ClassUtils.isPresent("jakarta.persistence.EntityManager", SpringTransactions.class.getClassLoader());
    private static final String MYSQL_READ_ONLY =
            "SHOW SESSION VARIABLES WHERE Variable_name IN ('transaction_read_only', 'tx_read_only')";

    /** How each server is asked whether it refuses writes. */
    private static final Map<String, String> READ_ONLY = Map.of(
            "PostgreSQL", "SELECT current_setting('transaction_read_only')",
            "MySQL", MYSQL_READ_ONLY,
            "MariaDB", MYSQL_READ_ONLY);

    private static final @Nullable Method IS_ACTIVE =
            ReflectionUtils.findMethod(ConnectionHolder.class, "isTransactionActive");

    static {
        if (IS_ACTIVE != null) {
            ReflectionUtils.makeAccessible(IS_ACTIVE);
        }
    }

    /** What to do about transactions that tell nobody of their end. */
    static final String SILENT = "The current transaction has no synchronization, which a lock needs to follow"
            + " it. Set the transaction manager's transactionSynchronization to SYNCHRONIZATION_ALWAYS or"
            + " SYNCHRONIZATION_ON_ACTUAL_TRANSACTION.";

    private final @Nullable DataSource target;
    private final @Nullable LockDatabase database;
    private final Consumer<String> complaints;
    private final Remembered known = new Remembered();

    /** Of this data source. */
    public SpringTransactions(DataSource dataSource) {
        this(dataSource, LogFactory.getLog(SpringTransactions.class)::error);
    }

    SpringTransactions(DataSource dataSource, Consumer<String> complaints) {
        this(Objects.requireNonNull(dataSource, "dataSource"), null, complaints);
    }

    /** Of this data source, and of whatever else leads to the database. */
    public SpringTransactions(@Nullable DataSource dataSource, LockDatabase database) {
        this(dataSource, database, LogFactory.getLog(SpringTransactions.class)::error);
    }

    private SpringTransactions(
            @Nullable DataSource dataSource, @Nullable LockDatabase database, Consumer<String> complaints) {
        this.target = dataSource;
        this.database = database;
        this.complaints = complaints;
    }

    /**
     * Whether the current thread is in an actual transaction of the data source.
     *
     * @throws IllegalStateException if it is in a transaction, but not in one that can be joined
     */
    public boolean isActive() {
        if (find() == null) {
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
            throw new IllegalStateException(SILENT);
        }
        return true;
    }

    /** Whether the current thread is in a transaction of the data source that can be joined; never complains. */
    public boolean isJoinable() {
        return TransactionSynchronizationManager.isSynchronizationActive() && isBound();
    }

    /** Whether the current thread is in a transaction of the data source, joinable or not. */
    boolean isBound() {
        return find() != null;
    }

    /** Whether the current transaction is read-only. */
    public static boolean isReadOnly() {
        return TransactionSynchronizationManager.isCurrentTransactionReadOnly();
    }

    /** Whether the current transaction, which is said to be read-only, can't write to the data source. */
    boolean writesNothing() {
        @Nullable Joined joined = find();
        return joined == null || joined.on(SpringTransactions::refusesWrites);
    }

    /**
     * Whether the database itself refuses to write in this transaction. The server is asked: H2's connections only say that they are
     * read-only, and so do others with settings of their drivers (readOnlyMode, readOnlyPropagatesToServer).
     */
    public static boolean refusesWrites(Connection connection) {
        try {
            return connection.isReadOnly() && saysTheServer(connection);
        } catch (SQLException e) {
            throw new TransactionSystemException("The connection does not tell whether it is read-only", e);
        }
    }

    private static boolean saysTheServer(Connection connection) throws SQLException {
        @Nullable String question = READ_ONLY.get(connection.getMetaData().getDatabaseProductName());
        if (question == null) {
            return false;
        }
        try (Statement statement = connection.createStatement();
                ResultSet answer = statement.executeQuery(question)) {
            // MySQL and MariaDB answer with the name first
            return answer.next()
                    && "on"
                            .equalsIgnoreCase(
                                    answer.getString(answer.getMetaData().getColumnCount()));
        }
    }

    /**
     * Whether transactions under this data source or entity manager factory are ours.
     *
     * @throws RuntimeException if that can't be told
     */
    boolean isOurs(Object factory) {
        @Nullable Boolean before = known.about(factory);
        if (before != null) {
            return before;
        }
        @Nullable
        DataSource source =
                factory instanceof DataSource itself ? itself : JPA ? JpaTransactions.dataSource(factory) : null;
        if (source != null && WrappedDataSources.isRouting(source)) {
            return isSame(source) || isRoutedToOurs(source);
        }
        boolean ours = source != null
                ? isSame(source) || isReached(source)
                : JPA
                        && database != null
                        && JpaTransactions.isFactory(factory)
                        && database.isReachedBy(work -> JpaTransactions.inOwnTransaction(factory, work));
        return known.put(factory, ours);
    }

    /** Now. The answer is known of its targets only: the next transaction may be led to another one. */
    private boolean isRoutedToOurs(DataSource source) {
        @Nullable DataSource led = WrappedDataSources.leadsTo(source);
        return led == null ? isReached(source) : isOurs(led);
    }

    private boolean isReached(DataSource source) {
        if (database == null) {
            return false;
        }
        if (database.isReachedBy(source)) {
            return true;
        }
        if (target != null
                && !WrappedDataSources.isRouting(target)
                && LockDatabase.address(source).equals(LockDatabase.address(target))) {
            throw new IllegalStateException("A transaction of " + source + " leads to the database of the locks ("
                    + LockDatabase.address(source) + "), but does not see their tables, so a lock could not be guarded"
                    + " until its commit. Let its user and its schema see them (Locks.builder(...).schemaName(...) names"
                    + " the schema), or use the transaction manager of the data source that the locks follow.");
        }
        return false;
    }

    private boolean isSame(DataSource source) {
        return target != null && WrappedDataSources.same(source, target);
    }

    /**
     * Calls a guard on the connection of the current transaction. If it fails, for whatever reason, the transaction can't be
     * committed any more, even if the application catches the exception: the guard has rolled it back already, so what would be
     * committed is only what comes after.
     */
    public <T extends @Nullable Object> T guarded(Function<Connection, T> guard) {
        Joined joined = Objects.requireNonNull(find(), "no transaction");
        try {
            return joined.on(guard);
        } catch (RuntimeException | Error e) {
            refuseCommit(joined, e);
            throw e;
        }
    }

    /** The current transaction was guarded with this lock, and is guarded with it again just before its commit. */
    public void guardAgain(Object owner, LockId id, BiConsumer<Connection, LockId> guard) {
        guardedIds(owner, guard).guarded(id);
    }

    /** The current transaction has released this lock: there is nothing to guard any more, unless that is rolled back. */
    public void released(Object owner, LockId id, BiConsumer<Connection, LockId> guard) {
        guardedIds(owner, guard).released(id);
    }

    private GuardedIds guardedIds(Object owner, BiConsumer<Connection, LockId> guard) {
        for (TransactionSynchronization each : TransactionSynchronizationManager.getSynchronizations()) {
            if (each instanceof GuardedIds ids && ids.isOf(owner)) {
                return ids;
            }
        }
        GuardedIds ids = new GuardedIds(
                owner,
                id -> guarded(connection -> {
                    guard.accept(connection, id);
                    return true;
                }));
        TransactionSynchronizationManager.registerSynchronization(ids);
        return ids;
    }

    private void refuseCommit(Joined joined, Throwable reason) {
        joined.rollbackOnly().run();
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void beforeCommit(boolean readOnly) {
                ReflectionUtils.rethrowRuntimeException(reason);
            }

            /** Who guards in a beforeCommit of their own, and catches this, is committed past both: what came after is undone. */
            @Override
            public void beforeCompletion() {
                joined.on(SpringTransactions::rolledBack);
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

    private @Nullable Joined find() {
        for (Map.Entry<Object, Object> resource :
                TransactionSynchronizationManager.getResourceMap().entrySet()) {
            if (resource.getKey() instanceof DataSource key
                    && resource.getValue() instanceof ConnectionHolder holder
                    && isOfTransaction(holder)
                    && isOurs(key)) {
                return new Joined(work -> onConnection(key, work), () -> setRollbackOnly(holder));
            }
        }
        return JPA ? JpaTransactions.find(this::isOurs) : null;
    }

    private static void onConnection(DataSource key, Consumer<Connection> work) {
        Connection connection = DataSourceUtils.getConnection(key);
        try {
            work.accept(connection);
        } finally {
            DataSourceUtils.releaseConnection(connection, key);
        }
    }

    private void setRollbackOnly(ConnectionHolder holder) {
        // enough for the managers of plain JDBC; JPA's look elsewhere
        holder.setRollbackOnly();
        if (JPA) {
            JpaTransactions.setRollbackOnly(this::isOurs);
        }
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

    private static String named(@Nullable String name) {
        return name == null ? "" : " (" + name + ")";
    }
}
