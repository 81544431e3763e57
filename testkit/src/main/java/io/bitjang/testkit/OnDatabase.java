// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Runs a test class on one database. Its constructor, test and life-cycle methods may ask for a {@link TestDatabase}:
 *
 * <pre>{@code
 * @OnDatabase("mysql")
 * class MySqlLeaseTest extends LeaseContract {}
 *
 * @ExtendWith(LeakCheck.class)
 * abstract class LeaseContract {
 *     @BeforeEach
 *     void open(TestDatabase database) { ... }
 * }
 * }</pre>
 *
 * <p>A class whose database was left out with {@code bitjang.testkit.databases} is reported as skipped, and the reason printed.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(OnDatabaseExtension.class)
public @interface OnDatabase {

    /** {@code postgresql}, {@code mysql}, {@code mariadb}, {@code h2} or {@code h2-server}. */
    String value();
}
