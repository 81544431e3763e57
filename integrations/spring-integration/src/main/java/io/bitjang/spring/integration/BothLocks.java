// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.integration;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.springframework.integration.support.locks.DistributedLock;

/**
 * Both locks or none. Bitjang's comes first on every node, so two nodes never wait for each other, and it is renewed while this one
 * waits for the old one, which then has all of its time to live ahead. Thread-safe.
 */
final class BothLocks implements DistributedLock {

    private final RegistryLock bitjang;
    private final Lock old;

    BothLocks(RegistryLock bitjang, Lock old) {
        this.bitjang = bitjang;
        this.old = old;
    }

    /** Takes a lock; answers whether it got it. */
    private interface Taking<X extends Exception> {
        boolean take() throws X;
    }

    @Override
    public void lock() {
        bitjang.lock();
        orGiveBack(() -> {
            old.lock();
            return true;
        });
    }

    @Override
    public void lock(Duration ttl) {
        bitjang.lock(ttl);
        orGiveBack(() -> {
            if (old instanceof DistributedLock distributed) {
                distributed.lock(ttl);
            } else {
                old.lock();
            }
            return true;
        });
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        bitjang.lockInterruptibly();
        this.<InterruptedException>orGiveBack(() -> {
            old.lockInterruptibly();
            return true;
        });
    }

    @Override
    public boolean tryLock() {
        return bitjang.tryLock() && orGiveBack(old::tryLock);
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        long end = System.nanoTime() + unit.toNanos(time);
        return bitjang.tryLock(time, unit)
                && this.<InterruptedException>orGiveBack(
                        () -> old.tryLock(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS));
    }

    @Override
    public boolean tryLock(Duration waitTime, Duration ttl) throws InterruptedException {
        long begin = System.nanoTime();
        return bitjang.tryLock(waitTime, ttl)
                && this.<InterruptedException>orGiveBack(() -> {
                    Duration left = waitTime.minusNanos(System.nanoTime() - begin);
                    Duration wait = left.isNegative() ? Duration.ZERO : left;
                    return old instanceof DistributedLock distributed
                            ? distributed.tryLock(wait, ttl)
                            : old.tryLock(wait.toMillis(), TimeUnit.MILLISECONDS);
                });
    }

    /** The old one first; Bitjang's also when that fails. */
    @Override
    public void unlock() {
        try (Unlock second = bitjang::unlock;
                Unlock first = old::unlock) {}
    }

    @Override
    public Condition newCondition() {
        return bitjang.newCondition();
    }

    private <X extends Exception> boolean orGiveBack(Taking<X> second) throws X {
        boolean taken;
        try {
            taken = second.take();
        } catch (Throwable e) {
            giveBackAfter(e);
            throw e;
        }
        if (!taken) {
            bitjang.unlock();
        }
        return taken;
    }

    /** What the old lock threw must not be hidden. */
    private void giveBackAfter(Throwable failure) {
        try {
            bitjang.unlock();
        } catch (RuntimeException e) {
            failure.addSuppressed(e);
        }
    }

    /** Unlocks at the end of a block. */
    private interface Unlock extends AutoCloseable {
        @Override
        void close();
    }
}
