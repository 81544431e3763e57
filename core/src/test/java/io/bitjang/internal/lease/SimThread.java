// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.internal.work.Workers;
import java.util.concurrent.Semaphore;

/**
 * A thread of a simulated process, which waits in the middle of its work. It is a real one, and runs only while the world stands
 * still for it, until it has to wait again.
 */
final class SimThread extends Thread {

    /** The history is over. */
    private static final class Over extends Error {
        private static final long serialVersionUID = 1L;

        Over() {
            super("over", null, false, false);
        }
    }

    private final SimProcess process;
    private final Runnable work;
    private final Semaphore turn = new Semaphore(0);
    private final Semaphore stopped = new Semaphore(0);
    private boolean begun;
    private boolean over;
    private boolean parked;
    private boolean permit;
    private long parks;

    SimThread(SimProcess process, String name, Runnable work) {
        super(name);
        setDaemon(true);
        this.process = process;
        this.work = work;
    }

    /** The one that this is called on. */
    static SimThread current() {
        return (SimThread) Thread.currentThread();
    }

    /** Begins its work, unless the history is over. */
    void begin() {
        if (!over) {
            begun = true;
            start();
            stopped.acquireUninterruptibly();
        }
    }

    @Override
    public void run() {
        try {
            Workers.logged(work);
        } finally {
            stopped.release();
        }
    }

    /** Lets it go on until it has to wait again. */
    void goOn() {
        turn.release();
        stopped.acquireUninterruptibly();
    }

    /** It waits until it may go on. */
    void halt() {
        if (!over) {
            stopped.release();
            turn.acquireUninterruptibly();
        }
        if (over) {
            throw new Over();
        }
    }

    /** It waits so long, or until it is unparked. */
    void park(long nanos) {
        if (permit && !over) {
            permit = false;
            return;
        }
        parked = true;
        long mine = ++parks;
        process.world.at(nanos, process, () -> wake(mine));
        halt();
    }

    private void wake(long which) {
        if (parked && parks == which) {
            parked = false;
            goOn();
        }
    }

    void unpark() {
        if (parked) {
            long which = parks;
            process.world.at(process.world.thread(), process, () -> wake(which));
        } else {
            permit = true;
        }
    }

    /** Ends it wherever it is, because the history is over. */
    void end() {
        over = true;
        if (begun) {
            turn.release();
            try {
                join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
