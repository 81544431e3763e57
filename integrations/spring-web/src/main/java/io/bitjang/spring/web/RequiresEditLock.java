// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A handler of the application's that runs only for the holder of an edit lock.
 *
 * <p>The request carries the lock's id in the header {@code Lock-Token} or the form field {@code lid}. The handler runs in one
 * transaction that the lock guards: nobody can take the lock over until it has committed, and the lock is released with that
 * commit, unless the handler calls {@link EditLock#keep()}. If the handler throws, or answers with an error status, everything is
 * rolled back and the lock stays.
 *
 * <p>Decided in this order: 401 not signed in, 403 not allowed, 404 no such thing (by {@link EditLockVersions}), 428 no lock id or
 * version sent, 410 the lock is gone and free, 423 someone else has it, 412 the version is old; whatever the handler decides comes
 * after that.
 *
 * <pre>{@code
 * @PostMapping("/orders/{no}")
 * @RequiresEditLock(type = "order", id = "{no}")
 * String save(@PathVariable String no, OrderForm form) { ... }
 * }</pre>
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface RequiresEditLock {

    /** The lock's type. */
    String type();

    /**
     * The lock's id: {@code {no}} for the path variable of that name, or a template of Spring's expression language over the
     * handler's parameters, such as <code>#{#form.number}</code>. Checked at start-up.
     */
    String id();

    /**
     * Whether the request must also carry the version its form was made from, in {@code If-Match} or the form field {@code
     * version}; needs an {@link EditLockVersions}. An {@code If-Match} that is sent is checked in any case if there is one.
     */
    boolean version() default false;

    /**
     * Whether a lock that ran out still counts if nobody took it since. It is safe, because nobody else could save in between;
     * and it is kind to a page without JavaScript, which can't renew its lock.
     */
    boolean acceptLapsed() default false;

    /** The bean name of the transaction manager, where there are several: the one of the locks' data source. */
    String transactionManager() default "";
}
