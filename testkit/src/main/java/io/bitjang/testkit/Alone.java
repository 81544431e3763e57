// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * A test that must run while no other test runs on the machine, because it measures a time, a share or a rate that depends on how busy
 * the machine is. It has the tag {@code alone}, on which JUnit does not act by itself: with Surefire, exclude the group {@code alone}
 * from the run with several forks, and run it in a second execution with one.
 *
 * <p>Such a test makes the build longer, so there should be few of them: a test that waits for an event doesn't need this.
 */
@Documented
@Inherited
@Tag("alone")
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
public @interface Alone {

    /** Why it must run alone. */
    String value();
}
