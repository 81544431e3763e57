// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.AlreadyLockedException;
import io.bitjang.Lease;
import io.bitjang.LeaseLock;
import io.bitjang.LockException;
import io.bitjang.LockName;
import io.bitjang.NoLockException;
import io.bitjang.Wait;
import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A lease as a {@link Lock}: the thread that has it may take it again, and gives it back as often. Thread-safe. */
final class ThreadLock implements Lock {

    /** Which lease a thread has, and how often. */
    private record Hold(Lease lease, int count) {}

    private final LeaseLock lock;
    private final Supplier<Lease> patiently;
    private final LockName name;

    /** The holds, each written by its own thread only: one that was lost is known until its thread has unlocked it. */
    private final Map<Thread, Hold> holds = new ConcurrentHashMap<>();

    /**
     * Makes a lock of this lease.
     *
     * @param patiently takes the lease for a caller without a deadline who ignores interrupts
     */
    ThreadLock(LeaseLock lock, Supplier<Lease> patiently, LockName name) {
        this.lock = lock;
        this.patiently = patiently;
        this.name = name;
    }

    @Override
    public void lock() {
        boolean interrupted = false;
        try {
            while (true) {
                interrupted |= Thread.interrupted();
                try {
                    if (!reentered()) {
                        begin(patiently.get());
                    }
                    return;
                } catch (LockException e) {
                    if (!Thread.interrupted()) {
                        throw e;
                    }
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        interruptibly(Wait.forever());
    }

    @Override
    public boolean tryLock() {
        if (reentered()) {
            return true;
        }
        Optional<Lease> lease = lock.tryAcquire();
        lease.ifPresent(this::begin);
        return lease.isPresent();
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        try {
            interruptibly(Wait.upTo(Duration.ofNanos(Math.max(0, unit.toNanos(time)))));
            return true;
        } catch (AlreadyLockedException e) {
            return false;
        }
    }

    @Override
    public void unlock() {
        Hold mine = mine();
        if (mine == null) {
            throw new IllegalMonitorStateException("This thread does not hold " + name);
        }
        if (mine.count > 1) {
            holds.put(Thread.currentThread(), new Hold(mine.lease, mine.count - 1));
            return;
        }
        holds.remove(Thread.currentThread());
        boolean lost = !mine.lease.isHeld();
        try {
            mine.lease.close();
        } catch (NoLockException e) {
            lost = true;
        }
        if (lost) {
            throw new ConcurrentModificationException(name + " was lost before unlock: " + whyLost(mine.lease));
        }
    }

    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("A lock in a database has no conditions");
    }

    private void interruptibly(Wait wait) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        try {
            if (!reentered()) {
                begin(lock.acquire(wait));
            }
        } catch (LockException e) {
            if (e.getCause() instanceof InterruptedException && Thread.interrupted()) {
                throw (InterruptedException) new InterruptedException(e.getMessage()).initCause(e);
            }
            throw e;
        }
    }

    /**
     * Takes the lock once more if this thread has it. Throws if it was lost: an inner lock never silently wins back what the
     * outer one has lost.
     */
    private boolean reentered() {
        Hold mine = mine();
        if (mine == null) {
            return false;
        }
        if (!mine.lease.isHeld()) {
            throw new NoLockException(name, name + " was lost by its outer lock: " + whyLost(mine.lease), null);
        }
        holds.put(Thread.currentThread(), new Hold(mine.lease, mine.count + 1));
        return true;
    }

    /** Says why a lease that this lock has not given back is not held. */
    private static String whyLost(Lease lease) {
        return lease.lostBecause().orElse("it was given back when its Locks was closed");
    }

    private void begin(Lease lease) {
        // of threads that have ended without an unlock
        holds.keySet().removeIf(thread -> !thread.isAlive());
        holds.put(Thread.currentThread(), new Hold(lease, 1));
    }

    private @Nullable Hold mine() {
        return holds.get(Thread.currentThread());
    }
}
