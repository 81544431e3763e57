// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.contestants;

import java.util.concurrent.locks.Lock;

/** A way to lock, as one process has it. Thread-safe. */
public interface Contestant extends AutoCloseable {

    /** The way into and out of what a name protects, for one thread. */
    Section section(String name) throws Exception;

    /** Frees what it has taken. */
    @Override
    default void close() throws Exception {}

    /** Used by one thread. */
    interface Section extends AutoCloseable {

        /** Waits until it is this thread's turn. */
        void enter() throws Exception;

        /** Lets the next one in. */
        void leave() throws Exception;

        @Override
        default void close() throws Exception {}

        /** By a {@link Lock}. */
        static Section of(Lock lock) {
            return new Section() {
                @Override
                public void enter() {
                    lock.lock();
                }

                @Override
                public void leave() {
                    lock.unlock();
                }
            };
        }
    }
}
