// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.session;

import io.bitjang.internal.sql.DatabaseException;
import io.bitjang.internal.sql.SessionLink;
import io.bitjang.internal.work.Alarm;
import io.bitjang.internal.work.Workers;
import java.time.Duration;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Watches over the sessions: asks those that hold locks whether they live, which also keeps a firewall or the server from ending
 * them; gives up those that are silent; gives idle connections back to their pool. Thread-safe.
 */
final class SessionMonitor {

    /** How often a session that holds locks is asked. */
    private static final Duration KEEP_ALIVE = Duration.ofMillis(400);

    /** How long a session may stay silent before it is given up, and its locks with it. */
    private static final Duration SILENCE = Duration.ofSeconds(5);

    /** How long the server is asked to wait for a lock at a time. */
    static final Duration SLICE = Duration.ofSeconds(10);

    /** How long a connection that carries nothing is kept. */
    private static final Duration IDLE = Duration.ofSeconds(30);

    private final SessionConnections links;
    private final Turns turns;
    private final Workers workers;
    private final BiConsumer<SessionLink, @Nullable String> died;
    private final Alarm alarm;

    SessionMonitor(
            SessionConnections links, Turns turns, Workers workers, BiConsumer<SessionLink, @Nullable String> died) {
        this.links = links;
        this.turns = turns;
        this.workers = workers;
        this.died = died;
        this.alarm = new Alarm(workers, this::look);
    }

    /** Begins to look at the sessions, because one was opened or got a lock. */
    void begin() {
        alarm.setTo(workers.ticker().now() + KEEP_ALIVE.toNanos());
    }

    /** Looks at all sessions, on the thread that must not wait. */
    private void look() {
        boolean any = false;
        boolean busy = false;
        for (SessionLink link : links.all()) {
            boolean carries = turns.any(link);
            boolean waits = links.isWaiting(link);
            Duration patience = waits && !carries ? SLICE.plus(SILENCE) : SILENCE;
            if (link.unanswered().compareTo(patience) > 0) {
                // listeners of the application's are told: not on this thread
                workers.aside(() -> died.accept(link, "it has not answered for " + patience.toSeconds() + " s"));
            } else if (carries && link.idle().compareTo(KEEP_ALIVE.dividedBy(2)) > 0) {
                workers.execute(() -> check(link));
            } else if (!carries && !waits && link.dieIfIdle(IDLE)) {
                links.forget(link);
                workers.execute(link::close);
                continue;
            }
            any = true;
            busy |= carries || !link.unanswered().isZero();
        }
        if (any) {
            // one that is idle now may be asked for a lock meanwhile, and not answer
            alarm.setTo(workers.ticker().now() + (busy ? KEEP_ALIVE : SILENCE).toNanos());
        }
    }

    private void check(SessionLink link) {
        try {
            link.check();
        } catch (DatabaseException e) {
            if (SessionLink.isBroken(e)) {
                died.accept(link, e.getMessage());
            }
        }
    }
}
