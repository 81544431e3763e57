// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;

/**
 * Settings of {@link LockingConfiguration}: declare a bean of it to change them. Immutable.
 *
 * @param order of {@code @Locked} among the advisors: before that of the transactions, which are last by default
 * @param failOnSelfInvocation whether a call of a {@code @Locked} method by its own object, which takes no lock, is an error at
 *     start-up; otherwise it is a warning
 * @param dataSource the name of the data source bean whose transactions the locks follow; the only or primary one if null
 */
public record LockingSettings(
        int order, boolean failOnSelfInvocation, @Nullable String dataSource) {

    /** Where {@code @Locked} stands unless told otherwise. */
    public static final int DEFAULT_ORDER = Ordered.LOWEST_PRECEDENCE - 1000;

    /** The defaults. */
    public static LockingSettings defaults() {
        return new LockingSettings(DEFAULT_ORDER, true, null);
    }

    /** With {@code @Locked} at this order. */
    public LockingSettings withOrder(int changed) {
        return new LockingSettings(changed, failOnSelfInvocation, dataSource);
    }

    /** With a warning instead of an error if an object calls its own {@code @Locked} method. */
    public LockingSettings warningOnSelfInvocation() {
        return new LockingSettings(order, false, dataSource);
    }

    /** With the transactions of the data source of this bean name. */
    public LockingSettings following(String dataSourceBean) {
        return new LockingSettings(
                order, failOnSelfInvocation, Objects.requireNonNull(dataSourceBean, "dataSourceBean"));
    }
}
