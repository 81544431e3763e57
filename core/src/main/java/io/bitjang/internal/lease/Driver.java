// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.internal.sql.Plan;
import org.jspecify.annotations.Nullable;

/** Runs plans. The driver is handed in: a test can decide what happens between two statements. Thread-safe. */
interface Driver {

    /** Runs the plan on this thread, which waits for the database. */
    <T extends @Nullable Object> T run(Plan<T> plan);

    /** Runs the plan soon, on a worker. */
    void start(Plan<?> plan);

    /** Runs the plan at once, on a thread of its own that has this name; false if there can't be one more thread. */
    boolean start(String thread, Plan<?> plan);
}
