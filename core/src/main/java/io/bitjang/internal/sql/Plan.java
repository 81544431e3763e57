// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What is to be asked of the database: statements one after the other, each chosen by the answers before it, and pauses between
 * them. It describes and does nothing: whoever runs it decides on which thread, and what else happens between two statements.
 * Immutable.
 *
 * @param <T> what comes out of it
 */
public sealed interface Plan<T extends @Nullable Object> {

    /** Does what the plan says on this thread, from the first statement to the last. */
    T run(Runner runner);

    /** A plan that asks nothing. */
    record Of<T extends @Nullable Object>(T value) implements Plan<T> {
        @Override
        public T run(Runner runner) {
            return value;
        }
    }

    /** A plan that ends with an exception. */
    record Failed<T extends @Nullable Object>(RuntimeException reason) implements Plan<T> {
        @Override
        public T run(Runner runner) {
            throw reason;
        }
    }

    /** A plan that asks once, on a connection of its own or on that of the visit that it is part of. */
    record Asked<T>(Ask<T> ask) implements Plan<T> {
        @Override
        public T run(Runner runner) {
            return runner.ask(ask);
        }
    }

    /** A plan that sleeps for a random part of the time; false if the thread was interrupted. */
    record Pause(long millis) implements Plan<Boolean> {
        @Override
        public Boolean run(Runner runner) {
            return runner.pause(millis);
        }
    }

    /**
     * A plan that asks all of its statements on one connection.
     *
     * @param together whether they are one transaction; otherwise each commits by itself unless the pool is without auto-commit
     */
    record Visit<T extends @Nullable Object>(boolean together, Plan<T> plan) implements Plan<T> {
        @Override
        public T run(Runner runner) {
            return runner.visit(together, plan);
        }
    }

    /** A plan that goes on with what came out of the first one. */
    record Then<S extends @Nullable Object, T extends @Nullable Object>(Plan<S> first, Function<S, Plan<T>> next)
            implements Plan<T> {
        @Override
        public T run(Runner runner) {
            Plan<T> plan = this;
            // a loop: a plan may go on with itself for as long as it likes
            while (plan instanceof Then<?, T> then) {
                plan = then.begin(runner);
            }
            return plan.run(runner);
        }

        private Plan<T> begin(Runner runner) {
            return next.apply(first.run(runner));
        }
    }

    /** A plan that goes on in another way after a failure; where the function knows none, the failure stays. */
    record Otherwise<T extends @Nullable Object>(Plan<T> first, Function<RuntimeException, @Nullable Plan<T>> next)
            implements Plan<T> {
        @Override
        public T run(Runner runner) {
            Plan<T> way;
            try {
                return first.run(runner);
            } catch (RuntimeException e) {
                @Nullable Plan<T> found = next.apply(e);
                if (found == null) {
                    throw e;
                }
                way = found;
            }
            return way.run(runner);
        }
    }

    /** A plan for each element, one after the other, even after one that answered false; it answers whether all said true. */
    record Each<E>(List<E> each, Function<E, Plan<Boolean>> plan) implements Plan<Boolean> {
        @Override
        public Boolean run(Runner runner) {
            boolean all = true;
            // a loop: there may be many
            for (E one : each) {
                all &= plan.apply(one).run(runner);
            }
            return all;
        }
    }

    /**
     * A plan that is not ended by an interrupt from before it began: what is held must be given back all the same. The thread's
     * interrupt flag stays as it was.
     */
    record Deaf<T extends @Nullable Object>(Plan<T> plan) implements Plan<T> {
        @Override
        public T run(Runner runner) {
            boolean interrupted = Thread.interrupted();
            try {
                return plan.run(runner);
            } finally {
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }

    /** A plan that does something at the end, with what came out or with the failure, which goes no further. */
    record Ended<T extends @Nullable Object>(Plan<T> plan, BiConsumer<@Nullable T, @Nullable Throwable> last)
            implements Plan<@Nullable Void> {
        @Override
        public @Nullable Void run(Runner runner) {
            @Nullable T value = null;
            @Nullable Throwable failure = null;
            try {
                value = plan.run(runner);
            } catch (Throwable e) {
                failure = e;
            }
            last.accept(value, failure);
            return null;
        }
    }

    /** The plan that has nothing more to do. */
    Plan<@Nullable Void> DONE = new Of<>(null);

    /** Makes a plan that asks nothing. */
    static <T extends @Nullable Object> Plan<T> of(T value) {
        return new Of<>(value);
    }

    /** Makes a plan that fails. */
    static <T extends @Nullable Object> Plan<T> failed(RuntimeException reason) {
        return new Failed<>(reason);
    }

    /** Makes a plan of one statement. */
    static <T> Plan<T> ask(Ask<T> ask) {
        return new Asked<>(ask);
    }

    /** Makes a plan that is made only when its time has come: what it depends on may change until then. */
    static <T extends @Nullable Object> Plan<T> later(Supplier<Plan<T>> plan) {
        return new Then<>(new Of<@Nullable Object>(null), nothing -> plan.get());
    }

    /** Makes a plan for each element, one after the other; it tells whether all answered true. */
    static <E> Plan<Boolean> all(List<E> each, Function<E, Plan<Boolean>> plan) {
        return new Each<>(each, plan);
    }

    /**
     * Makes a plan for all elements at once; where the server cancels that, for one half and then for the other, down to one
     * element. If even that is cancelled, it is the server that is slow, and nothing more is asked; nor is it after any other failure.
     */
    static <E> Plan<Boolean> halved(List<E> all, Function<List<E>, Plan<Boolean>> plan) {
        int half = all.size() / 2;
        return plan.apply(all)
                .ifFailed(e -> half > 0 && e.isCancelled()
                        ? halved(all.subList(0, half), plan).then(first -> halved(all.subList(half, all.size()), plan))
                        : failed(e));
    }

    /** Asks all statements of this plan on one connection. */
    default Plan<T> onOneConnection() {
        return new Visit<>(false, this);
    }

    /** Asks all statements of this plan in one transaction. */
    default Plan<T> inOneTransaction() {
        return new Visit<>(true, this);
    }

    /** Goes on with what comes out of this plan. */
    default <R extends @Nullable Object> Plan<R> then(Function<T, Plan<R>> next) {
        return new Then<>(this, next);
    }

    /** Makes something else of what comes out of this plan. */
    default <R extends @Nullable Object> Plan<R> map(Function<T, R> change) {
        return new Then<>(this, value -> new Of<>(change.apply(value)));
    }

    /** Goes on in another way if this plan fails; null for no other way. */
    default Plan<T> otherwise(Function<RuntimeException, @Nullable Plan<T>> next) {
        return new Otherwise<>(this, next);
    }

    /** Goes on in another way if the database fails. */
    default Plan<T> ifFailed(Function<DatabaseException, Plan<T>> next) {
        return otherwise(e -> e instanceof DatabaseException failure ? next.apply(failure) : null);
    }

    /** Ends with this action, whatever comes out of the plan: it is given what, or the failure, which goes no further. */
    default Plan<@Nullable Void> ended(BiConsumer<@Nullable T, @Nullable Throwable> last) {
        return new Ended<>(this, last);
    }

    /** Does this action with what comes out of the plan, and nothing more. */
    default Plan<@Nullable Void> last(Consumer<T> action) {
        return then(value -> {
            action.accept(value);
            return DONE;
        });
    }

    /** Runs this plan in spite of an interrupt from before it began. */
    default Plan<T> deaf() {
        return new Deaf<>(this);
    }
}
