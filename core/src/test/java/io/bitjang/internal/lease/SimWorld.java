// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockName;
import io.bitjang.internal.sql.AdminSql;
import io.bitjang.internal.sql.Database;
import io.bitjang.internal.sql.DatabaseException;
import io.bitjang.internal.sql.Gone;
import io.bitjang.internal.sql.Plan;
import io.bitjang.internal.sql.SimDialect;
import io.bitjang.internal.sql.SimFailures;
import io.bitjang.internal.sql.SimSessions;
import io.bitjang.internal.sql.SimTable;
import io.bitjang.internal.time.HandTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Several processes with many who wait, on one table, over a network that delays and loses; what happens when is chosen. After every
 * step it is looked at whether the promises hold. Not thread-safe.
 */
final class SimWorld {

    static final Database NO_DATABASE =
            new Database(new NoDataSource(), new SimDialect(SimTable.Server.SKIPS), new HandTicker());

    static final List<LockName> NAMES = List.of(LockName.of("a"), LockName.of("b"));
    /** How much may lie ahead at a time: alarms that were called off stay until their time, but nothing multiplies. */
    private static final int MOST_EVENTS = 400;

    static final long BEGIN = 1_000_000_000_000L;
    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    /** What happens at a time; null for the server, which goes on whatever becomes of a process. */
    private record Event(long at, long number, @Nullable SimProcess in, Runnable task) implements Comparable<Event> {
        @Override
        public int compareTo(Event other) {
            int byTime = Long.compare(at, other.at);
            return byTime != 0 ? byTime : Long.compare(number, other.number);
        }
    }

    final Choices choices;
    final SimKind kind;
    final SimTable table;
    final List<SimProcess> processes = new ArrayList<>();
    long now = BEGIN;
    final SimSessions sessions = new SimSessions();
    final List<SimThread> threads = new ArrayList<>();
    final SimPeople people = new SimPeople(this);
    final SimPromises promises = new SimPromises(this);
    private final SimOwners owners = new SimOwners(this);
    final SimGates gates = new SimGates(this);
    boolean faults;

    boolean anyClosed;

    /** Whether the history is over: no thread is begun any more. */
    boolean over;

    /** Whether people still want locks. */
    boolean live = true;

    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private final StringBuilder trace = new StringBuilder();
    private final boolean keepsTrace;
    private long eventNumber;

    /** By how many microseconds the server's clock has stepped back. */
    long steppedBack;

    /** How many steps there were. */
    long steps;

    private @Nullable Broken failure;

    SimWorld(Choices choices, boolean keepsTrace) {
        this.choices = choices;
        this.keepsTrace = keepsTrace;
        this.kind = SimKind.chosen(choices);
        this.faults = !kind.calm();
        this.table = new SimTable(kind.server(), promises);
        // it keeps these objects as its names: they are found sooner than others that are equal
        NAMES.forEach(table::row);
        table.row(SimOwners.NAME);
        int count = 2 + choices.below(2);
        for (int i = 0; i < count; i++) {
            SimProcess[] self = new SimProcess[1];
            self[0] = new SimProcess(this, i, event -> promises.told(self[0], event));
            processes.add(self[0]);
        }
    }

    /** The process that made a secret. */
    SimProcess processOf(String secret) {
        return processes.get(secret.charAt(1) - '0');
    }

    // time

    void at(long nanos, @Nullable SimProcess in, Runnable task) {
        events.add(new Event(now + nanos, ++eventNumber, in, task));
    }

    /** How long a thread takes to begin. */
    long thread() {
        return choices.onceIn(50) ? kind.calm() ? 20_000_000L : 200_000_000L : 1_000L * (1 + choices.below(50));
    }

    /** How long a message takes. */
    long network() {
        return switch (choices.below(12)) {
            case 11 -> faults ? 700_000_000L : 10_000_000L;
            case 10 -> 60_000_000L;
            case 9, 8 -> 5_000_000L;
            default -> 50_000L * (1 + choices.below(10));
        };
    }

    /** How long a client waits for an answer before it gives up. */
    long patience() {
        return SECOND / 5;
    }

    long random(long below) {
        return below <= 1
                ? 0
                : choices.below((int) Math.min(below, Integer.MAX_VALUE)) * Math.max(1, below / Integer.MAX_VALUE);
    }

    static DatabaseException failed() {
        return SimFailures.failed();
    }

    static DatabaseException unknown() {
        return SimFailures.unknown();
    }

    /** One event; false if there is none. */
    boolean step() {
        @Nullable Event event = events.poll();
        if (event == null) {
            return false;
        }
        steps++;
        if (event.at > now) {
            table.clock += (event.at - now) / 1000;
            now = event.at;
        }
        if (event.in != null && event.in.dead) {
            return true;
        }
        if (event.in != null && event.in.isFrozen()) {
            events.add(new Event(event.in.frozenUntil(), ++eventNumber, event.in, event.task));
            return true;
        }
        try {
            event.task.run();
            promises.check();
            owners.check();
            gates.check();
            if (events.size() > MOST_EVENTS) {
                broken(events.size() + " things are to happen", null);
            }
        } catch (RuntimeException e) {
            failure = failure == null ? new Broken("an event failed with " + e, e) : failure;
        }
        if (failure != null) {
            throw failure;
        }
        return true;
    }

    /** So many steps of what people and faults do. */
    void live(int steps) {
        for (SimProcess process : processes) {
            for (int i = 0; i < 4; i++) {
                at(choices.below(50) * 1_000_000L, process, () -> people.act(process));
            }
            if (choices.onceIn(kind.calm() ? 6 : 3)) {
                at(choices.below(50) * 1_000_000L, process, () -> owners.act(process));
            }
        }
        if (choices.onceIn(6)) {
            SimProcess process = processes.get(0);
            at(choices.below(100) * 10_000_000L, process, process::shutDown);
        }
        at(choices.below(20) * 50_000_000L, null, this::fate);
        for (int i = 0; i < steps && step(); i++) {
            // the step looked at the promises
        }
    }

    /** No more faults: everybody who waits is served or told why not, and gives back what they have, within a bounded time. */
    void settle() {
        faults = false;
        live = false;
        long end = now + 60 * SECOND;
        while (now < end && !(people.waiting.isEmpty() && people.held.isEmpty()) && step()) {
            // the step looked at the promises
        }
        if (!people.waiting.isEmpty()) {
            broken(people.waiting.size() + " still wait after a minute without faults", null);
        }
        long quiet = now + 40 * SECOND;
        while (now < quiet && leftOver() != null && step()) {
            // the step looked at the promises
        }
        @Nullable String left = leftOver();
        if (left != null) {
            broken(left + ", though nobody wants anything any more", null);
        }
    }

    private @Nullable String leftOver() {
        @Nullable String left = promises.leftOver();
        return left != null ? left : gates.leftOver();
    }

    /** Nothing happens any more. */
    void end() {
        over = true;
        threads.forEach(SimThread::end);
    }

    int served() {
        return people.served;
    }

    /** What befalls them. */
    private void fate() {
        if (!live) {
            return;
        }
        SimProcess process = processes.get(choices.below(processes.size()));
        switch (choices.below(kind.calm() ? 3 : 8)) {
            case 1 -> takeAway(process);
            case 2 -> sweep(process);
            case 3 -> {
                log(process, "stands still");
                // a host that is suspended for less than a second is not found out, as the documents say
                boolean suspended = choices.onceIn(3);
                process.freeze(choices.below(10) * SECOND / 2 + (suspended ? 2 * SECOND : 0), suspended);
            }
            case 4 -> {
                if (processes.stream().filter(each -> !each.dead).count() > 1 && choices.onceIn(3)) {
                    log(process, "dies");
                    process.dead = true;
                    people.died(process);
                    process.line.died();
                }
            }
            case 5 -> {
                long step = Math.min(choices.below(4) * SECOND / 1000, kind.stepsBack() - steppedBack);
                steppedBack += step;
                table.clock -= step;
            }
            case 6 -> process.wakeUps.breakOff();
            default -> {
                // nothing
            }
        }
        at(choices.below(20) * 50_000_000L, null, this::fate);
    }

    /** An operator removes the rows that nobody has used for long. */
    private void sweep(SimProcess process) {
        if (!process.dead && !process.closed) {
            AdminSql admin = process.store.admin();
            process.run(admin.idle(kind.swept())
                    .then(rows -> Plan.all(rows, row -> sweep(process, admin, row)))
                    .ifFailed(e -> Plan.of(false)));
        }
    }

    private Plan<Boolean> sweep(SimProcess process, AdminSql admin, AdminSql.Idle row) {
        return admin.deleteIdle(row, kind.swept())
                .map(done -> {
                    log(process, () -> (done ? "sweeps " : "does not sweep ") + row.name() + " #" + row.fence());
                    return done;
                })
                .ifFailed(e -> Plan.of(false));
    }

    /** An operator takes a lock away. */
    private void takeAway(SimProcess process) {
        LockName name = NAMES.get(choices.below(NAMES.size()));
        SimTable.Row row = table.row(name);
        if (row != null && row.lockId != null && !process.dead && !process.closed) {
            String secret = row.lockId;
            promises.mayBeTakenAway(secret);
            log(process, "takes away " + name + " #" + row.fence);
            long fence = row.fence;
            process.run(process.store
                    .admin()
                    .force(name, fence, "operator", "why not", false, choices.onceIn(4))
                    .map(done -> {
                        if (done) {
                            process.engine.takenAway(name, fence, Gone.takenAway("operator"));
                        }
                        return done;
                    })
                    .ifFailed(e -> Plan.of(false)));
        }
    }

    /** Kept, too: whoever calls may be used to failures. */
    void broken(String what, @Nullable Throwable cause) {
        failure = failure == null ? new Broken(what, cause) : failure;
        throw failure;
    }

    /** A promise does not hold. */
    static final class Broken extends Error {
        private static final long serialVersionUID = 1L;

        Broken(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    void log(@Nullable SimProcess process, String what) {
        log(process, () -> what);
    }

    void log(@Nullable SimProcess process, Supplier<String> what) {
        if (keepsTrace) {
            trace.append((now - BEGIN) / 1000)
                    .append(" us  ")
                    .append(process == null ? "server" : "node-" + process.number)
                    .append("  ")
                    .append(what.get())
                    .append('\n');
        }
    }

    String trace() {
        return trace.toString();
    }
}
