// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockName;
import io.bitjang.internal.sql.SimSessions.Session;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What must hold after every step where processes stand in line. Not thread-safe. */
final class SimGates {

    /** How long a process may stand before a gate while nobody in it waits: as long as the server is asked to wait, and a bit. */
    private static final long SLICE = 5_500_000_000L;

    /** How long a process may have a gate while nobody in it waits: as long as a turn, and a bit. */
    private static final long TURN = 2_500_000_000L;

    private final SimWorld world;
    private final Map<Session, Long> standsSince = new HashMap<>();
    private final Map<Session, Long> keepsSince = new HashMap<>();

    SimGates(SimWorld world) {
        this.world = world;
    }

    void check() {
        if (world.kind.line()) {
            world.sessions.all().forEach(this::check);
            if (world.kind.calm()) {
                world.processes.forEach(this::checkLine);
            }
        }
    }

    private void checkLine(SimProcess process) {
        if (process.line.hasFailed()) {
            world.broken("the line of node-" + process.number + " has failed, though nothing fails", null);
        }
    }

    private void check(Session session) {
        SimProcess process = (SimProcess) session.by;
        List<Object> held = session.held();
        @Nullable Object awaited = session.awaited();
        if (held.size() > 1 || !held.isEmpty() && awaited != null) {
            world.broken("node-" + process.number + " has the gate of one lock and wants that of another", null);
        }
        if (!world.kind.calm()) {
            return;
        }
        if (process.line.asksTooMuch()) {
            world.broken("node-" + process.number + " asks too often for gates", null);
        }
        boolean stands = awaited != null && !isGood(process, awaited);
        since(standsSince, session, stands, SLICE, "stands in line for a lock for which nobody in it waits");
        boolean keeps = !held.isEmpty() && !isGood(process, held.get(0));
        since(keepsSince, session, keeps, TURN, "keeps the gate of a lock for which nobody in it waits");
    }

    /** Tells whether somebody in the process waits for the lock behind a gate. */
    private boolean isGood(SimProcess process, Object gate) {
        LockName name = process.line.behind(gate);
        return world.people.waiting.stream()
                .anyMatch(each -> each.process == process && each.names.size() == 1 && each.names.contains(name));
    }

    /** Tells whether somebody who was the first in line has not heard yet that the lock was taken away. */
    boolean keptByFormerHolder(LockName name) {
        if (!world.kind.line()) {
            return false;
        }
        for (Session session : world.sessions.all()) {
            SimProcess process = (SimProcess) session.by;
            if (session.held().stream()
                            .anyMatch(gate -> process.line.behind(gate).equals(name))
                    && world.people.believes(process, name)) {
                return true;
            }
        }
        return false;
    }

    private void since(Map<Session, Long> spells, Session session, boolean is, long longest, String what) {
        if (!is) {
            spells.remove(session);
        } else if (world.now - spells.computeIfAbsent(session, any -> world.now) > longest) {
            world.broken("node-" + ((SimProcess) session.by).number + " " + what, null);
        }
    }

    /** Says what is left of the line when nobody waits; null if nothing is. */
    @Nullable
    String leftOver() {
        return world.kind.calm() && !world.sessions.all().isEmpty() ? "there is a session for the line" : null;
    }
}
