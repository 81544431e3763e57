// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Lets threads through while it is open. */
final class Valve {

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition opened = lock.newCondition();
    private boolean open = true;

    void open() {
        lock.lock();
        try {
            open = true;
            opened.signalAll();
        } finally {
            lock.unlock();
        }
    }

    void shut() {
        lock.lock();
        try {
            open = false;
        } finally {
            lock.unlock();
        }
    }

    void pass() {
        lock.lock();
        try {
            while (!open) {
                opened.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }
}
