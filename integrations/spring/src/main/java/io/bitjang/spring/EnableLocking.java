// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.context.annotation.Import;

/**
 * Switches {@link Locked} on, and gives the application a {@link LockTemplate}, a {@link io.bitjang.LockManager} that follows its
 * transactions, and a {@link LockExceptionTranslator}. Stands on a configuration class. See {@link LockingConfiguration}.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Import(LockingConfiguration.class)
public @interface EnableLocking {}
