// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The wall clock of a member, which is right until somebody sets it. */
final class MemberClock {

    private static final long STEP_MILLIS = 50;

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, String> environment = new LinkedHashMap<>();
    private final FakeClock clock = FakeClock.preloadJumping(environment);

    private double offset;
    private long since = System.nanoTime();
    private double perSecond;
    private @Nullable Thread drifting;

    Map<String, String> environment() {
        return environment;
    }

    void set(Duration ahead) {
        lock.lock();
        try {
            perSecond = 0;
            offset = ahead.toNanos() / 1e9;
            write();
        } finally {
            lock.unlock();
        }
    }

    void drift(double speed) {
        lock.lock();
        try {
            offset = now();
            since = System.nanoTime();
            perSecond = speed;
            if (drifting == null && speed != 0) {
                drifting = ProxiedConnection.start("clock", this::run);
            }
        } finally {
            lock.unlock();
        }
    }

    private double now() {
        return offset + perSecond * (System.nanoTime() - since) / 1e9;
    }

    private void write() {
        clock.set(String.format(Locale.ROOT, "%+.4fs", now()));
    }

    /** In small steps: the library knows speeds, too, but only ones that hold since the process began. */
    private void run() {
        try {
            while (true) {
                TimeUnit.MILLISECONDS.sleep(STEP_MILLIS);
                lock.lock();
                try {
                    if (perSecond == 0) {
                        drifting = null;
                        return;
                    }
                    write();
                } finally {
                    lock.unlock();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    void close() {
        lock.lock();
        try {
            perSecond = 0;
            clock.close();
        } finally {
            lock.unlock();
        }
    }
}
