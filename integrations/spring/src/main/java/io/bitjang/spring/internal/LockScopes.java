// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.internal;

import io.bitjang.AlreadyLockedException;
import io.bitjang.LockException;
import io.bitjang.Locks;
import io.bitjang.spring.LockObserver;
import io.bitjang.spring.Locked;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NamedThreadLocal;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Calls that run under locks: the one mechanism behind {@code @Locked} and {@code LockTemplate}.
 *
 * <p>A call is bound to its thread, so that a transaction that begins inside it is found, by listening to the transaction managers,
 * and guarded before its commit. A transaction that is there already when the lock is taken is guarded at once, which proves that it
 * has read nothing from before the grant, and then keeps the lock until it has ended; otherwise the lock would be free before the
 * changes are seen. Who asks for a lock that the thread or its transaction has already joins it: they would wait for themselves.
 *
 * <p>Thread-safe.
 */
public final class LockScopes {

    private final Supplier<Locks> locks;
    private final Supplier<SpringTransactions> transactions;
    private final Supplier<@Nullable LockObserver> observer;
    private final Consumer<String> warnings;
    private final ThreadLocal<Scope> current = new NamedThreadLocal<>("Calls under locks");
    private final ThreadLocal<Set<Holding>> kept =
            NamedThreadLocal.withInitial("Locks that transactions keep", ConcurrentHashMap::newKeySet);
    private final Set<String> warned = ConcurrentHashMap.newKeySet();
    private final List<ManagedTransactions> hidden = new CopyOnWriteArrayList<>();

    /** Asks for each when it is needed first, so that nothing is made too early. */
    public LockScopes(
            Supplier<Locks> locks,
            Supplier<SpringTransactions> transactions,
            Supplier<@Nullable LockObserver> observer) {
        this(locks, transactions, observer, LogFactory.getLog(LockScopes.class)::warn);
    }

    LockScopes(
            Supplier<Locks> locks,
            Supplier<SpringTransactions> transactions,
            Supplier<@Nullable LockObserver> observer,
            Consumer<String> warnings) {
        this.locks = locks;
        this.transactions = transactions;
        this.observer = observer;
        this.warnings = warnings;
    }

    Locks locks() {
        return locks.get();
    }

    void bind(@Nullable Scope scope) {
        if (scope == null) {
            current.remove();
        } else {
            current.set(scope);
        }
    }

    /** Takes the lock, calls the body, gives it back. */
    public <T extends @Nullable Object, X extends Exception> T call(
            LockRequest request, String who, Locks.Call<T, X> body) throws X {
        return under(open(request, who), body);
    }

    /** Takes the lock, runs the task, gives it back; false if someone else has it. */
    public <X extends Exception> boolean tryRun(LockRequest request, String who, Locks.Task<X> task) throws X {
        @Nullable Scope scope = tryOpen(request, who);
        return scope != null
                && under(scope, () -> {
                    task.run();
                    return true;
                });
    }

    private static <T extends @Nullable Object, X extends Exception> T under(Scope scope, Locks.Call<T, X> body)
            throws X {
        T result;
        try {
            result = body.call();
        } catch (Throwable e) {
            scope.end(e);
            throw e;
        }
        scope.end(null);
        return result;
    }

    /** Begins a call; the exceptions are Spring's. */
    Scope open(LockRequest request, String who) {
        try {
            return begin(request, who);
        } catch (LockException e) {
            throw LockExceptions.translate(e);
        }
    }

    /** Begins a call; null if someone else has the lock. */
    @Nullable
    Scope tryOpen(LockRequest request, String who) {
        try {
            return begin(request, who);
        } catch (AlreadyLockedException e) {
            return null;
        } catch (LockException e) {
            throw LockExceptions.translate(e);
        }
    }

    private Scope begin(LockRequest request, String who) {
        @Nullable Scope outer = current.get();
        @Nullable Holding holding = outer == null ? null : outer.find(request);
        if (holding != null) {
            holding.requireHeld();
            holding.join();
        } else {
            holding = ofTransaction(request, who);
        }
        Scope scope = new Scope(this, outer, holding);
        bind(scope);
        return scope;
    }

    /** One that the current transaction has, or a new one that it keeps. */
    private Holding ofTransaction(LockRequest request, String who) {
        if (request.kind() == Locked.Kind.LEASE) {
            requireGuardable(who);
        }
        boolean inside = TransactionSynchronizationManager.isActualTransactionActive()
                && TransactionSynchronizationManager.isSynchronizationActive()
                && !(SpringTransactions.isReadOnly() && transactions.get().writesNothing());
        if (!inside) {
            @Nullable Holding kept = keptAround(request);
            return kept == null ? acquire(request) : kept;
        }
        for (TransactionSynchronization kept : TransactionSynchronizationManager.getSynchronizations()) {
            if (kept instanceof Kept keeper && keeper.isOf(this) && keeper.holding.isOf(request)) {
                // again: a savepoint that was rolled back may have taken the first guard along
                guard(keeper.holding);
                return keeper.holding.join();
            }
        }
        @Nullable Holding around = keptAround(request);
        if (around != null) {
            register(new GuardedCommit(Set.of(around), pins()));
            return around;
        }
        if (warned.add(who)) {
            warnings.accept(who + " takes the lock " + request.name()
                    + " inside a transaction that has begun before. The lock is"
                    + " kept until that transaction has ended. Take the lock first: call it from outside of the"
                    + " transaction. (Said once.)");
        }
        Holding holding = acquire(request);
        boolean guarded;
        try {
            guarded = guard(holding);
        } catch (RuntimeException | Error e) {
            holding.leave(e);
            throw e;
        }
        register(new Kept(this, holding.join(), guarded, pins()));
        return holding;
    }

    /** For what the current transaction guards itself with. */
    private static Pins pins() {
        Pins pins = new Pins();
        register(pins);
        return pins;
    }

    private static void register(TransactionSynchronization synchronization) {
        TransactionSynchronizationManager.registerSynchronization(synchronization);
    }

    /** A transaction that is there already, and that could not be guarded, is refused before anything is done under the lock. */
    private void requireGuardable(String who) {
        for (ManagedTransactions manager : hidden) {
            if (manager.isActive()) {
                throw manager.refused(who);
            }
        }
        boolean silent = !TransactionSynchronizationManager.isSynchronizationActive();
        boolean maybe = silent
                ? !TransactionSynchronizationManager.getResourceMap().isEmpty()
                : TransactionSynchronizationManager.isActualTransactionActive();
        // whose transaction it is may have to be found out: not when the lock is held already
        if (maybe && transactions.get().isBound() && silent) {
            throw new IllegalStateException(who + " can't guard the current transaction. " + SpringTransactions.SILENT);
        }
    }

    private Holding acquire(LockRequest request) {
        @Nullable LockObserver watching = observer.get();
        return watching == null
                ? Holding.acquire(locks.get(), request)
                : watching.around(
                        request.kind().name().toLowerCase(Locale.ROOT),
                        request.name(),
                        () -> Holding.acquire(locks.get(), request));
    }

    /** One that a transaction of this thread keeps, which is suspended meanwhile: waiting for it would never end. */
    private @Nullable Holding keptAround(LockRequest request) {
        for (Holding holding : kept.get()) {
            if (holding.isOf(request)) {
                holding.requireHeld();
                return holding.join();
            }
        }
        if (kept.get().isEmpty()) {
            kept.remove();
        }
        return null;
    }

    /**
     * Guards the current transaction and answers true; where it is one of another database, refuses it if a loss is known.
     *
     * @throws IllegalStateException if it can't be guarded
     */
    private boolean guard(Holding holding) {
        if (!holding.canGuard() || !transactions.get().isJoinable()) {
            holding.requireHeld();
            return false;
        }
        return transactions.get().guarded(connection -> {
            holding.guard(connection);
            return true;
        });
    }

    /** Before a commit, where the exceptions are Spring's. */
    private boolean guardCommit(Holding holding, boolean pinnedByItself) {
        try {
            if (holding.isPinned() && !pinnedByItself) {
                // by the suspended transaction around this one: a second guard would wait for the first, on the same
                // thread
                holding.requireHeld();
                return false;
            }
            return guard(holding);
        } catch (LockException e) {
            throw LockExceptions.translate(e);
        }
    }

    private boolean hasNothingToGuard(boolean readOnly) {
        return readOnly && transactions.get().writesNothing();
    }

    /** One more transaction manager tells of its transactions. */
    void listenTo(ManagedTransactions manager) {
        if (manager.isHidden()) {
            hidden.add(manager);
        }
    }

    /** A transaction under locks that could not be guarded must not begin. */
    void beforeBegin(ManagedTransactions manager, TransactionExecution transaction) {
        @Nullable Scope scope = current.get();
        if (scope != null
                && transaction.isNewTransaction()
                && scope.holdings().stream().anyMatch(Holding::canGuard)) {
            manager.requireGuardable(transactions.get());
        }
    }

    /** A transaction that begins under locks is guarded before its commit. */
    void afterBegin(TransactionExecution transaction) {
        @Nullable Scope scope = current.get();
        if (scope != null
                && transaction.isNewTransaction()
                && TransactionSynchronizationManager.isSynchronizationActive()) {
            register(new GuardedCommit(scope.holdings(), pins()));
        }
    }

    private final class GuardedCommit implements TransactionSynchronization {

        private final Set<Holding> holdings;
        private final Pins pins;
        private final List<Holding> guarded = new ArrayList<>();

        GuardedCommit(Set<Holding> holdings, Pins pins) {
            this.holdings = holdings;
            this.pins = pins;
        }

        @Override
        public void beforeCommit(boolean readOnly) {
            if (hasNothingToGuard(readOnly)) {
                return;
            }
            for (Holding holding : holdings) {
                if (guardCommit(holding, false)) {
                    pins.add(holding);
                    guarded.add(holding);
                }
            }
        }

        /** What begins in a listener of the commit relies on the guard of this transaction, which must still be there. */
        @Override
        public void suspend() {
            pins.forEach(holding -> guardCommit(holding, true));
        }

        @Override
        public void afterCommit() {
            guarded.forEach(Holding::committed);
        }
    }

    /** The transaction keeps the lock until it has ended. */
    private static final class Kept implements TransactionSynchronization {

        private final LockScopes owner;
        private final Holding holding;
        private final boolean guarded;
        private final Pins pins;
        private final Set<Holding> ofThread;

        Kept(LockScopes owner, Holding holding, boolean guarded, Pins pins) {
            this.owner = owner;
            this.holding = holding;
            this.guarded = guarded;
            this.pins = pins;
            this.ofThread = owner.kept.get();
            ofThread.add(holding);
            if (guarded) {
                pins.add(holding);
            }
        }

        boolean isOf(LockScopes scopes) {
            return owner.equals(scopes);
        }

        @Override
        public void beforeCommit(boolean readOnly) {
            if (!owner.hasNothingToGuard(readOnly)) {
                // again: a savepoint, an implicit commit or a deadlock may have ended the first guard
                owner.guardCommit(holding, guarded);
            }
        }

        /** What begins now relies on the guard of this transaction. */
        @Override
        public void suspend() {
            pins.forEach(pinned -> owner.guardCommit(pinned, true));
        }

        @Override
        public void afterCompletion(int status) {
            ofThread.remove(holding);
            if (owner.kept.get().isEmpty()) {
                owner.kept.remove();
            }
            holding.leaveQuietly();
        }
    }
}
