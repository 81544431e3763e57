// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.orders;

import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;

/** Makes work on an order take a while, between the reading and the writing, so that two people can meet there. Thread-safe. */
@Component
public class Slowness {

    private final Duration duration;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition over = lock.newCondition();
    private int pausing;
    private long ends;

    Slowness(@Value("${shop.slowness:4s}") Duration duration) {
        this.duration = duration;
    }

    /** How many pause now, between reading and writing. */
    public int pausing() {
        lock.lock();
        try {
            return pausing;
        } finally {
            lock.unlock();
        }
    }

    /** Those who pause now go on, for whoever does not want to wait. */
    public void end() {
        lock.lock();
        try {
            ends++;
            over.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** For as long as a slow save takes, if this one is. */
    public void pauseIf(boolean slowly) {
        if (slowly) {
            pause(duration);
        }
    }

    /** For so long, or until it is ended. */
    public void pause(Duration longest) {
        lock.lock();
        try {
            long before = ends;
            long left = longest.toNanos();
            pausing++;
            try {
                while (left > 0 && ends == before) {
                    left = over.awaitNanos(left);
                }
            } finally {
                pausing--;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while at work", e);
        } finally {
            lock.unlock();
        }
    }
}
