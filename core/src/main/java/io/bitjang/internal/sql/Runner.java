// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import org.jspecify.annotations.Nullable;

/** Runs plans on the calling thread, which waits for each answer. */
public interface Runner {

    /** Asks the database. */
    <A> A ask(Ask<A> ask);

    /** Sleeps for a random part of the time; false if the thread is interrupted. */
    boolean pause(long millis);

    /** Asks all statements of a plan on one connection, in one transaction if {@code together}. */
    <T extends @Nullable Object> T visit(boolean together, Plan<T> plan);
}
