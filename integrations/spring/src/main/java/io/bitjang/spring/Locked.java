// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring;

import io.bitjang.LockName;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs the method under a lock: taken before its transaction begins, freed after it has committed.
 *
 * <pre>{@code
 * @Locked(type = "order", value = "#{#id}", waitFor = "2s")
 * @Transactional
 * void ship(long id) { ... }
 * }</pre>
 *
 * <p>A transaction that begins inside is guarded before its commit: if the lock was lost meanwhile, it is rolled back. If the lock
 * can't be had, {@code CannotAcquireLockException} is thrown; if it was lost, {@code PessimisticLockingFailureException}. Both are
 * {@code ConcurrencyFailureException}s, for {@code @Retryable}. A method that is called under a lock of the same name by the same
 * thread joins it.
 *
 * <p>A method that returns a {@code CompletionStage} or a reactive type holds the lock until that has ended.
 *
 * <p>What is wrong with the annotation, or with the order of the advisors around it, is told when the bean is created. On a class it
 * stands for all its public methods. Needs {@link EnableLocking}.
 *
 * <p>One annotation with a {@link Kind}, not two: name, wait, contention and order mean the same for both, and a team that finds out
 * that it wants the guard changes one word.
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface Locked {

    /** Which lock: whose kind of promise. */
    enum Kind {
        /** A lease: durable, renewed while the method runs, with a guard for the transactions inside. */
        LEASE,
        /** A session lock: cheaper, without a guard. A commit inside is refused only if its loss is known by then. */
        SESSION
    }

    /** What to do if someone else has the lock until the end of the wait. */
    enum OnContention {
        /** Throw {@code CannotAcquireLockException}. */
        THROW,
        /** Don't call the method. It must return nothing, an {@code Optional} (empty then) or a boolean (false then). */
        SKIP
    }

    /**
     * The name of the lock: a text in which <code>#{...}</code> is an expression (SpEL) over the method's parameters, for example
     * <code>order:#{#id}</code>. An expression whose value is null or blank is an error: it would be one lock for all.
     */
    String value();

    /** The type of the lock's name. */
    String type() default LockName.PLAIN;

    /** The kind of lock. */
    Kind kind() default Kind.LEASE;

    /** How long to wait for it: a duration such as {@code 2s}, {@code 500ms} or {@code PT2S}, or {@code forever}; no wait if empty. */
    String waitFor() default "";

    /** How long the lease lasts between renewals; that of the {@code Locks} if empty. */
    String lease() default "";

    /** How long the lease is renewed at most; without a limit if empty. */
    String maxHold() default "";

    /** How long the lock stays taken at least, counted from when it was taken; not longer than needed if empty. */
    String notFreeBefore() default "";

    /** What to do if someone else has it. */
    OnContention onContention() default OnContention.THROW;
}
