// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks the association of an entity to the one that it is a part of: the root of its aggregate, or another part of it.
 *
 * <pre>{@code
 * @Entity
 * class OrderLine {
 *     @ManyToOne(fetch = FetchType.LAZY)
 *     @PartOf
 *     private Order order;
 * }
 * }</pre>
 *
 * <p>Every insert, update or delete of the part, and of its element collections, moves the version of the root by exactly one per
 * transaction, however much of the aggregate changes; a part that moves from one root to another moves the versions of both.
 * Statements in bulk (JPQL, Criteria, SQL) and stateless sessions are outside of it. Needs Hibernate, which finds it by itself.
 */
@Documented
@Target({ElementType.FIELD, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
public @interface PartOf {}
