// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockName;
import io.bitjang.internal.sql.SessionStore;
import io.bitjang.internal.sql.SimDialect;
import io.bitjang.internal.sql.SimLink;
import io.bitjang.internal.sql.SimRows.Server;
import io.bitjang.internal.sql.SimSessions.Session;
import io.bitjang.internal.sql.Tables;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A process's way to the session locks of the simulated server: the real {@link ProcessLine}, {@link SessionStore} and their
 * statements, on connections that take their time, and in a rough world break or fall silent. Not thread-safe.
 */
final class SimLine extends NoDataSource {

    private static final long MINUTE = Duration.ofMinutes(1).toNanos();
    private static final long SLICE = Duration.ofSeconds(5).toNanos();

    private final SimProcess process;
    private final SimWorld world;
    private final List<Session> sessions = new ArrayList<>();

    private final Map<Object, LockName> names = new HashMap<>();
    private final SessionStore store;
    private @Nullable ProcessLine real;
    private long questions;
    private long turns;
    private long opened;

    SimLine(SimProcess process) {
        this.process = process;
        this.world = process.world;
        this.store = new SessionStore(
                process.ticker, this, this, new SimDialect(world.kind.server()), new Tables(null, "bitjang_"));
    }

    WakeUps over(WakeUps.Sleepers sleepers, WakeUps others) {
        real = new ProcessLine(process, store, sleepers, others);
        return real;
    }

    /** The lock behind a gate that a session of this process has or had. */
    LockName behind(Object gate) {
        if (names.isEmpty()) {
            SimWorld.NAMES.forEach(name -> names.put(store.gateKey(name), name));
        }
        return Objects.requireNonNull(names.get(gate));
    }

    /** Tells whether more was asked than to open and to close, for each turn, and for each wait whose time was over. */
    boolean asksTooMuch() {
        return questions > 2 * (opened + turns + 1 + (world.now - SimWorld.BEGIN) / SLICE);
    }

    /** Tells whether the line has failed a moment ago, or was refused, so that nobody in this process stands in it. */
    boolean hasFailed() {
        return real != null && !process.closed && !real.retry.passed();
    }

    /** The process has died: the server finds that out, soon or late. */
    void died() {
        long late = world.choices.onceIn(3) ? MINUTE / 3 : world.network();
        world.at(late, null, () -> List.copyOf(sessions).forEach(Session::end));
    }

    @Override
    public Connection getConnection() throws SQLException {
        SimThread thread = SimThread.current();
        world.at(world.network(), process, thread::goOn);
        thread.halt();
        if (world.faults && world.choices.onceIn(20)) {
            throw new SQLException("no connection", "08001");
        }
        opened++;
        Session session = world.sessions.open(process);
        sessions.add(session);
        return SimLink.of(new Way(thread, session));
    }

    /** What happens on the way between a client and its session. */
    private final class Way implements SimLink.Way {
        private final SimThread thread;
        private final Session session;
        private boolean broken;

        /** What the thread waits for; null if it does not. */
        private @Nullable Answer asked;

        Way(SimThread thread, Session session) {
            this.thread = thread;
            this.session = session;
        }

        @Override
        public @Nullable Long ask(SimLink.Question question) throws SQLException {
            if (broken) {
                throw SimLink.broken();
            }
            questions++;
            Answer answer = new Answer();
            asked = answer;
            if (world.faults && world.choices.onceIn(60)) {
                world.at(world.network(), process, this::cut);
            } else if (!(world.faults && world.choices.onceIn(100))) {
                world.at(world.network(), null, () -> put(question, answer));
            }
            thread.halt();
            asked = null;
            turns += question.millis() > 0 && answer.value != null && answer.value == 1 ? 1 : 0;
            if (answer.failure != null) {
                throw answer.failure;
            }
            return answer.value;
        }

        private void put(SimLink.Question question, Answer answer) {
            if (session.isGone()) {
                return;
            }
            world.log(null, () -> told(question, "asks"));
            question.put(session, reply -> reply(question, answer, reply));
            long which = session.waits();
            question.patience()
                    .ifPresent(patience -> world.at(patience.toNanos(), null, () -> session.endWait(which, false)));
        }

        private void reply(SimLink.Question question, Answer answer, @Nullable Boolean value) {
            world.log(null, () -> told(question, "is told " + value));
            world.at(
                    world.network(),
                    process,
                    () -> answer.given(value == null ? null : value ? 1L : 0L, failure(question, value)));
        }

        /** PostgreSQL fails a statement that has waited too long, or was told to stop; what does not wait is answered with no. */
        private @Nullable SQLException failure(SimLink.Question question, @Nullable Boolean value) {
            if (Boolean.TRUE.equals(value) || world.kind.server() != Server.KEY_SHARE || question.millis() == 0) {
                return null;
            }
            return value == null ? SimLink.cancelled() : SimLink.timedOut();
        }

        private String told(SimLink.Question question, String what) {
            return "session " + session.number + " of node-" + process.number + " " + what + ": " + question.text()
                    + (question.key() == 0 ? "" : " " + behind(question.key()));
        }

        @Override
        public long session() {
            return session.number;
        }

        @Override
        public void cancel() {
            world.at(world.network(), null, () -> session.endWait(session.waits(), null));
        }

        @Override
        public boolean isBroken() {
            return broken;
        }

        @Override
        public void cut() {
            if (!broken) {
                broken = true;
                world.at(world.network(), null, () -> {
                    sessions.remove(session);
                    session.end();
                });
                if (asked != null) {
                    Answer answer = asked;
                    world.at(world.thread(), process, () -> answer.given(null, SimLink.broken()));
                }
            }
        }

        private final class Answer {
            private boolean given;
            private @Nullable Long value;
            private @Nullable SQLException failure;

            void given(@Nullable Long answer, @Nullable SQLException reason) {
                if (!given) {
                    given = true;
                    value = answer;
                    failure = reason;
                    thread.goOn();
                }
            }
        }
    }
}
