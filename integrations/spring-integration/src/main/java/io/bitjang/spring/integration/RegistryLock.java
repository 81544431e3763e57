// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.integration;

import io.bitjang.AlreadyLockedException;
import io.bitjang.Lease;
import io.bitjang.LeaseLock;
import io.bitjang.LockException;
import io.bitjang.LockName;
import io.bitjang.NoLockException;
import io.bitjang.Wait;
import io.bitjang.spring.integration.Holds.Hold;
import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import org.springframework.integration.support.locks.DistributedLock;

/** One lock of the registry. What is held stands in {@link Holds}: two of these with one name are the same lock. Thread-safe. */
final class RegistryLock implements DistributedLock {

    /**
     * Which part of a lease must be left for an inner lock. Less is left only when the renewal has failed for most of it. Leader
     * election takes an inner lock for its heartbeat: so it hears of the loss before another can lead, not after.
     */
    private static final int MARGIN = 6;

    private final LockName name;
    private final LeaseLock lease;
    private final Holds holds;

    RegistryLock(LockName name, LeaseLock lease, Holds holds) {
        this.name = name;
        this.lease = lease;
        this.holds = holds;
    }

    @Override
    public void lock() {
        uninterruptibly(lease);
    }

    @Override
    public void lock(Duration ttl) {
        uninterruptibly(lease.lasting(ttl));
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        interruptibly(lease, Wait.forever());
    }

    @Override
    public boolean tryLock() {
        if (reentered()) {
            return true;
        }
        Optional<Lease> granted = lease.tryAcquire();
        granted.ifPresent(this::begin);
        return granted.isPresent();
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        return within(Duration.ofNanos(unit.toNanos(time)), lease);
    }

    @Override
    public boolean tryLock(Duration waitTime, Duration ttl) throws InterruptedException {
        return within(waitTime, lease.lasting(ttl));
    }

    @Override
    public void unlock() {
        Hold mine = requireMine();
        holds.put(name, mine.counting(-1));
        if (mine.count() == 1) {
            end(mine.lease());
        }
    }

    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("A lock in a database has no conditions");
    }

    @Override
    public String toString() {
        return "Lock[" + name + "]";
    }

    /** Renews it now; afterwards so much must be left. */
    void renew(Duration ttl) {
        Hold mine = requireMine();
        long before = System.nanoTime();
        try {
            mine.lease().renew();
        } catch (NoLockException e) {
            throw new IllegalStateException("Could not renew the lock: " + e.getMessage(), e);
        }
        // what the renewal itself took is not missing
        Duration lasts = mine.lease().remaining().plusNanos(System.nanoTime() - before);
        if (lasts.compareTo(ttl) < 0) {
            throw new IllegalStateException("Could not renew the lock for " + ttl + ": " + name
                    + " was taken for less. Take it with lock(ttl), or give the registry a longer ttl");
        }
    }

    private boolean within(Duration wait, LeaseLock wanted) throws InterruptedException {
        try {
            interruptibly(wanted, wait.isNegative() ? Wait.none() : Wait.upTo(wait));
            return true;
        } catch (AlreadyLockedException e) {
            return false;
        }
    }

    private void interruptibly(LeaseLock wanted, Wait wait) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        try {
            if (!reentered()) {
                begin(wanted.acquire(wait));
            }
        } catch (LockException e) {
            if (e.getCause() instanceof InterruptedException && Thread.interrupted()) {
                throw (InterruptedException) new InterruptedException(e.getMessage()).initCause(e);
            }
            throw e;
        }
    }

    /** An interrupt neither ends the wait nor gets lost. */
    private void uninterruptibly(LeaseLock wanted) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    interruptibly(wanted, Wait.forever());
                    return;
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** An inner lock never wins back silently what the outer one has lost, or is about to lose. */
    private boolean reentered() {
        Hold mine = holds.mine(name);
        if (mine == null) {
            return false;
        }
        if (!mine.lease().isHeld()) {
            throw new NoLockException(name, name + " was lost by its outer lock: " + why(mine.lease()), null);
        }
        if (mine.lease().remaining().compareTo(mine.margin()) < 0) {
            throw new NoLockException(
                    name, name + " is about to be lost by its outer lock: it could not be renewed in time", null);
        }
        holds.put(name, mine.counting(1));
        return true;
    }

    private void begin(Lease granted) {
        holds.put(name, new Hold(granted, granted.remaining().dividedBy(MARGIN), 1));
    }

    private void end(Lease held) {
        // a pool that has none at this moment gives no connection to an interrupted thread: the flag has to wait
        boolean interrupted = Thread.interrupted();
        boolean lost = !held.isHeld();
        try {
            held.close();
        } catch (NoLockException e) {
            lost = true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        if (lost) {
            throw new ConcurrentModificationException(name + " was lost before unlock: " + why(held)
                    + ". What it protected may have been changed by another");
        }
    }

    private Hold requireMine() {
        Hold mine = holds.mine(name);
        if (mine == null) {
            throw new IllegalMonitorStateException("This thread does not hold " + name);
        }
        return mine;
    }

    private static String why(Lease lost) {
        return lost.lostBecause().orElse("it expired");
    }
}
