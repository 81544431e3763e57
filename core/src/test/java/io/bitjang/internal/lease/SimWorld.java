// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockName;
import io.bitjang.internal.sql.Database;
import io.bitjang.internal.sql.DatabaseException;
import io.bitjang.internal.sql.LockStore;
import io.bitjang.internal.sql.Plan;
import io.bitjang.internal.sql.SimDialect;
import io.bitjang.internal.sql.SimFailures;
import io.bitjang.internal.sql.SimTable;
import io.bitjang.internal.sql.Tables;
import io.bitjang.internal.time.HandTicker;
import io.bitjang.spi.LockEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Several processes with many who wait, on one table, over a network that delays and loses; what happens when is chosen. After every
 * step it is looked at whether the promises hold. Not thread-safe.
 */
final class SimWorld {

    static final Tables TABLES = new Tables(null, "bitjang_");
    static final Duration LEASE = Duration.ofSeconds(3);
    static final Database NO_DATABASE =
            new Database(new NoDataSource(), new SimDialect(SimTable.Server.SKIPS), new HandTicker());

    static final List<LockName> NAMES = List.of(LockName.of("a"), LockName.of("b"));
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
    final SimDialect dialect;
    final SimTable table;
    final List<SimProcess> processes = new ArrayList<>();
    long now = 1_000_000_000_000L;
    boolean faults = true;

    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private final StringBuilder trace = new StringBuilder();
    private final Map<LockName, Long> largestFence = new TreeMap<>();
    private final Map<String, Integer> lostTold = new HashMap<>();
    private final Set<String> fences = new HashSet<>();
    private final Set<String> takenAway = new HashSet<>();
    private final SimPeople people = new SimPeople(this);
    private final boolean keepsTrace;
    private long eventNumber;
    private @Nullable Broken failure;

    SimWorld(Choices choices, boolean keepsTrace) {
        this.choices = choices;
        this.keepsTrace = keepsTrace;
        this.dialect = new SimDialect(SimTable.Server.values()[choices.below(SimTable.Server.values().length)]);
        LockStore first = new LockStore(dialect, TABLES, new HandTicker(), () -> "");
        this.table = new SimTable(dialect.server(), first, this::changed);
        int count = 2 + choices.below(2);
        for (int i = 0; i < count; i++) {
            SimProcess[] self = new SimProcess[1];
            self[0] = new SimProcess(this, i, event -> told(self[0], event));
            processes.add(self[0]);
        }
    }

    void know(LockStore store) {
        table.know(store);
    }

    // time

    void at(long nanos, @Nullable SimProcess in, Runnable task) {
        events.add(new Event(now + nanos, ++eventNumber, in, task));
    }

    /** How long a thread takes to begin. */
    long thread() {
        return choices.onceIn(50) ? 200_000_000L : 1_000L * (1 + choices.below(50));
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
        if (event.at > now) {
            table.clock += (event.at - now) / 1000;
            now = event.at;
        }
        if (event.in != null && event.in.dead) {
            return true;
        }
        if (event.in != null && event.in.frozenUntil > now) {
            events.add(new Event(event.in.frozenUntil, ++eventNumber, event.in, event.task));
            return true;
        }
        try {
            event.task.run();
            check();
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
        }
        at(choices.below(20) * 50_000_000L, null, this::fate);
        for (int i = 0; i < steps && step(); i++) {
            // the step looked at the promises
        }
    }

    /** No more faults: everybody who waits is served or told why not, within a bounded time. */
    void settle() {
        faults = false;
        long end = now + 60 * SECOND;
        for (int i = 0; i < 20_000 && people.waiting > 0 && step(); i++) {
            if (now > end) {
                break;
            }
        }
        if (people.waiting > 0) {
            broken(people.waiting + " still wait after a minute without faults", null);
        }
    }

    int served() {
        return people.served;
    }

    /** What befalls them. */
    private void fate() {
        if (!faults) {
            return;
        }
        SimProcess process = processes.get(choices.below(processes.size()));
        switch (choices.below(8)) {
            case 1 -> {
                log(process, "stands still");
                // a host that is suspended for less than a second is not found out, as the documents say
                boolean suspended = choices.onceIn(3);
                process.freeze(choices.below(10) * SECOND / 2 + (suspended ? 2 * SECOND : 0), suspended);
            }
            case 2 -> takeAway(process);
            case 3 -> {
                if (processes.stream().filter(each -> !each.dead).count() > 1 && choices.onceIn(3)) {
                    log(process, "dies");
                    process.dead = true;
                    long gone = people.held.stream()
                            .filter(each -> each.process == process)
                            .count();
                    people.held.removeIf(each -> each.process == process);
                    people.waiting -= process.waiting;
                    log(process, gone + " leases die with it");
                }
            }
            default -> {
                // nothing
            }
        }
        at(choices.below(20) * 50_000_000L, null, this::fate);
    }

    /** An operator takes a lock away. */
    private void takeAway(SimProcess process) {
        LockName name = NAMES.get(choices.below(NAMES.size()));
        SimTable.Row row = table.row(name);
        if (row != null && row.lockId != null && !process.dead) {
            String secret = row.lockId;
            takenAway.add(secret);
            log(process, "takes away " + name + " #" + row.fence);
            process.start(process.store
                    .admin()
                    .force(name, row.fence, "operator", "why not", false, false)
                    .ifFailed(e -> Plan.of(false)));
        }
    }

    // what must hold

    private void changed(LockName name, SimTable.@Nullable Row before, SimTable.Row after) {
        boolean granted = after.lockId != null && (before == null || !after.lockId.equals(before.lockId));
        if (granted && !after.lockId.startsWith("nobody")) {
            long largest = largestFence.getOrDefault(name, 0L);
            boolean left = before != null && before.fence == after.fence; // left taken under an id of nobody's
            if (!left && after.fence <= largest) {
                broken(name + " was granted with fence " + after.fence + " after " + largest, null);
            }
            largestFence.put(name, Math.max(largest, after.fence + after.reserved));
        }
    }

    private void told(SimProcess process, LockEvent event) {
        log(process, event.kind() + " " + event.name() + " #" + event.fence());
        boolean grant = event.kind() == LockEvent.Kind.ACQUIRED
                || event.kind() == LockEvent.Kind.TAKEN_OVER
                || event.kind() == LockEvent.Kind.HANDED_OVER;
        if (grant && !fences.add(event.name() + " #" + event.fence())) {
            broken("a fence was given twice: " + event, null);
        }
        if (event.kind() == LockEvent.Kind.LOST
                && lostTold.merge(process.number + " " + event.name() + " #" + event.fence(), 1, Integer::sum) > 1) {
            broken("LOST was told twice: " + event, null);
        }
    }

    private void check() {
        for (SimPeople.Held each : people.held) {
            LeaseHandle lease = each.lease;
            if (each.process.frozenUntil > now
                    || !lease.active()
                    || lease.deadline() - each.process.ticker.now() <= 0
                    || lease.mayHaveSlept()) {
                continue;
            }
            for (LockName name : lease.names()) {
                SimTable.Row row = table.row(name);
                boolean truly = row != null && lease.key().secret().equals(row.lockId) && row.expiresAt > table.clock;
                if (!truly && !takenAway.contains(lease.key().secret())) {
                    broken(lease + " is believed to be held, but the table says otherwise of " + name, null);
                }
            }
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
        if (keepsTrace) {
            trace.append((now - 1_000_000_000_000L) / 1000)
                    .append(" us  ")
                    .append(process == null ? "server" : "node-" + process.number)
                    .append("  ")
                    .append(what)
                    .append('\n');
        }
    }

    String trace() {
        return trace.toString();
    }
}
