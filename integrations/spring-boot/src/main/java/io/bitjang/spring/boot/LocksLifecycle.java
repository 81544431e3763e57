// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import io.bitjang.Locks;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationContextAware;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;

/**
 * Gives the locks back when the application ends: after the web server and the schedulers have finished what they were doing, and
 * before the pools are closed.
 *
 * <p>A context that is only stopped or paused keeps its locks, because it may be started again, and what is closed can't be.
 */
final class LocksLifecycle implements SmartLifecycle, ApplicationContextAware, ApplicationListener<ContextClosedEvent> {

    private final Locks locks;
    private final AtomicBoolean running = new AtomicBoolean();
    private final AtomicBoolean closing = new AtomicBoolean();
    private volatile @Nullable ApplicationContext context;

    LocksLifecycle(Locks locks) {
        this.locks = locks;
    }

    @Override
    public void setApplicationContext(ApplicationContext applicationContext) {
        this.context = applicationContext;
    }

    @Override
    public void onApplicationEvent(ContextClosedEvent event) {
        // the event of a child context comes by here, too
        if (event.getApplicationContext() == context) {
            closing.set(true);
        }
    }

    @Override
    public void start() {
        running.set(true);
    }

    @Override
    public void stop() {
        running.set(false);
        if (closing.get()) {
            locks.close();
        }
    }

    @Override
    public boolean isRunning() {
        return running.get();
    }

    @Override
    public boolean isPauseable() {
        return false;
    }

    @Override
    public int getPhase() {
        return 0;
    }
}
