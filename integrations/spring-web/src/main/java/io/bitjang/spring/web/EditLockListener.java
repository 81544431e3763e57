// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import io.bitjang.LockName;
import java.io.IOException;
import java.security.Principal;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.web.servlet.function.ServerResponse.SseBuilder;

/**
 * One who listens. What is written to it waits in a queue of its own, and one thread at a time writes it: so one who never reads
 * holds up nobody else. If too much waits, the stream ends, and the browser connects again. Thread-safe.
 */
final class EditLockListener {

    /** What is sent. */
    interface Writing {
        void to(SseBuilder out) throws IOException;
    }

    private static final int MOST_WAITING = 1000;
    private static final long NOT_WRITING = Long.MIN_VALUE;
    private static final Log LOG = LogFactory.getLog(EditLockListener.class);

    private final SseBuilder out;
    private final Principal person;
    private final Set<String> types;
    private final @Nullable String id;
    private final Executor writers;
    private final Queue<Writing> waiting = new ArrayBlockingQueue<>(MOST_WAITING);
    private final AtomicBoolean busy = new AtomicBoolean();
    private volatile long writingSince = NOT_WRITING;
    private volatile boolean deaf;

    EditLockListener(SseBuilder out, Principal person, Set<String> types, @Nullable String id, Executor writers) {
        this.out = out;
        this.person = person;
        this.types = types;
        this.id = id;
        this.writers = writers;
    }

    Principal person() {
        return person;
    }

    Set<String> types() {
        return types;
    }

    @Nullable
    String id() {
        return id;
    }

    boolean wants(LockName name) {
        return !deaf && types.contains(name.type()) && (id == null || id.equals(name.id()));
    }

    /** Sends it after what waits already; never waits itself. */
    void send(Writing writing) {
        if (!deaf && !waiting.offer(writing)) {
            deaf = true; // it does not read, and is ended by whoever writes to it
        }
        write();
    }

    /** Sends it if nothing waits: a sign of life. What waits and has no thread is one itself. */
    void sendIfIdle(Writing writing) {
        if (!busy.get() && waiting.isEmpty()) {
            send(writing);
        } else {
            write();
        }
    }

    private void write() {
        if (!waiting.isEmpty() && busy.compareAndSet(false, true)) {
            try {
                writers.execute(this::writeAll);
            } catch (RejectedExecutionException e) {
                busy.set(false); // the application ends
            } catch (Throwable e) {
                // no thread could be started: the next to send tries again, and other listeners hear of it now
                busy.set(false);
                LOG.warn("What is told to a listener waits for a thread.", e);
            }
        }
    }

    private void writeAll() {
        try {
            Writing next = waiting.poll();
            while (next != null && !deaf) {
                writingSince = System.nanoTime();
                next.to(out);
                next = waiting.poll();
            }
        } catch (Throwable e) { // an Error, too: the stream has a gap, and the browser is to connect again
            LOG.trace("A listener has gone.", e);
            deaf = true;
        } finally {
            writingSince = NOT_WRITING;
            try {
                if (deaf) {
                    waiting.clear();
                    end();
                }
            } finally {
                busy.set(false);
            }
        }
        write(); // what came between
    }

    /** Whether something has been written for so long that this one does not seem to read. */
    boolean isStuck(long nanos) {
        long since = writingSince;
        return since != NOT_WRITING && System.nanoTime() - since > nanos;
    }

    /** Whether it hears of nothing any more. */
    boolean isDeaf() {
        return deaf;
    }

    void end() {
        out.complete();
    }
}
