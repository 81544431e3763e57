// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.beans.factory.annotation.Qualifier;

/**
 * Marks the data source bean from which Bitjang takes its connections: the one of several databases that has the locks, or a small
 * pool of their own.
 *
 * <p>The locks follow the transactions of the data source that is marked. If the application's main data source leads to the same
 * address, they follow its transactions, and the marked one only gives the connections. {@code bitjang.data-source} names the data
 * source whose transactions are meant where that guess would be wrong.
 */
@Target({ElementType.FIELD, ElementType.METHOD, ElementType.PARAMETER, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Qualifier
public @interface BitjangDataSource {}
