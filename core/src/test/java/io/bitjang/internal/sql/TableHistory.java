// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.LockName;
import io.bitjang.internal.sql.DatabaseException.Meaning;
import io.bitjang.internal.time.Ticker;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * One history of statements on several connections, on a server and on the simulated table at once. A statement that has to wait is
 * left waiting while others go on, and is looked at again when a transaction ends.
 */
final class TableHistory {

    private static final long PATIENCE_SECONDS = 20;
    private static final int TOO_MANY_LOOKS = 20;
    private static final long H2_TOLERANCE = 60_000_000;

    /** Of a clock that is put right meanwhile. */
    private static final long TOLERANCE = 500;

    /** What happens next, and on which connection; the seed says the rest. */
    record Step(int on, boolean ends, long seed) {

        static List<Step> random(long seed, int count) {
            Random random = new Random(seed);
            List<Step> steps = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                int on = random.nextInt(RealTable.CONNECTIONS);
                steps.add(new Step(on, on < RealTable.TRANSACTIONS && random.nextInt(6) == 0, random.nextLong()));
            }
            return steps;
        }
    }

    /** The two did not answer alike. */
    static final class Differs extends Exception {
        private static final long serialVersionUID = 1L;

        Differs(String message) {
            super(message);
        }
    }

    /** A statement that waits on both sides. */
    private record Waiting(
            int on,
            TableOp op,
            SimRows.Transaction transaction,
            Ask<?> ask,
            SimRows.Blocked since,
            Future<Object> real) {}

    private final RealTable real;
    private final LockStore store;
    private final SimTable table;
    private final SimRows.@Nullable Transaction[] open = new SimRows.@Nullable Transaction[RealTable.TRANSACTIONS];
    private final boolean[] commitsLate = new boolean[RealTable.TRANSACTIONS];
    private final List<Waiting> waiting = new ArrayList<>();
    private final List<@Nullable Future<Object>> last =
            new ArrayList<>(Collections.nCopies(RealTable.CONNECTIONS, null));
    private final List<String> told = new ArrayList<>();
    private long looked;
    private long longestLook;

    /** How many statements had to wait. */
    int waits;

    TableHistory(RealTable real) throws SQLException {
        this.real = real;
        this.table = new SimTable(real.server(), (name, before, after) -> {});
        this.store = table.store(Ticker.SYSTEM, () -> "");
        real.clear();
    }

    /** What happened, a line each. */
    String told() {
        return String.join("\n", told);
    }

    void run(List<Step> steps) throws Exception {
        try {
            for (Step step : steps) {
                take(step);
            }
            while (!waiting.isEmpty()) {
                for (int on = 0; on < RealTable.TRANSACTIONS; on++) {
                    if (!waits(on)) {
                        end(on, true, "in the end");
                    }
                }
            }
        } finally {
            leave();
        }
    }

    private void take(Step step) throws Exception {
        Random random = new Random(step.seed);
        if (step.ends) {
            if (!waits(step.on) && open[step.on] != null) {
                end(step.on, random.nextInt(3) > 0, "");
            }
            return;
        }
        // whoever inserts a row that another is about to insert waits for a row that is not there, which is not
        // simulated
        boolean rows = TableOp.NAMES.stream().allMatch(name -> table.row(name) != null);
        boolean inTransaction = step.on < RealTable.TRANSACTIONS;
        boolean late = inTransaction && rows && open[step.on] == null && random.nextInt(3) == 0;
        if (inTransaction && commitsLate[step.on]) {
            return;
        }
        List<TableOp> ops = TableOp.all(random, real.dialect).stream()
                .filter(op -> !inTransaction || (late ? op.mayCommitLate() : op.place() != TableOp.Place.ALONE))
                .toList();
        TableOp op = ops.get(random.nextInt(ops.size()));
        boolean patient = random.nextInt(4) > 0;
        boolean nothingToInsert = op.what().startsWith("insert absent") && rows;
        if (!waits(step.on) && !nothingToInsert) {
            if (inTransaction) {
                commitsLate[step.on] = late;
            }
            step(step.on, op, patient);
        }
    }

    private void step(int on, TableOp op, boolean patient) throws Exception {
        look();
        SimRows.Transaction transaction = transaction(on);
        Ask<?> ask = op.ask(op.sql().apply(store.sql), name -> seen(transaction, name));
        Object simulated;
        try {
            simulated = answer(on, transaction, ask, null);
        } catch (SimRows.Blocked blocked) {
            if (cannotBeForeseen(blocked)) {
                return;
            }
            waits++;
            if (patient || !real.bounds(op)) {
                told.add(on + ": " + op.what() + ", which waits");
                Future<Object> running = begin(on, op, true);
                waiting.add(new Waiting(on, op, transaction, ask, blocked, running));
                awaitWaits();
                return;
            }
            simulated = Meaning.BUSY;
        }
        told.add(on + ": " + op.what());
        compare(on, op, begin(on, op, patient), simulated);
    }

    /**
     * Who is served first among several that wait for a row, and who has to give up in a circle of them, is the server's choice, and
     * the simulation's is another.
     */
    private boolean cannotBeForeseen(SimRows.Blocked blocked) {
        return waiting.stream()
                .anyMatch(each -> each.since.name.equals(blocked.name) || blocked.holders.contains(each.transaction));
    }

    private Object answer(int on, SimRows.Transaction transaction, Ask<?> ask, SimRows.@Nullable Blocked since) {
        boolean done = false;
        try {
            Object answer = table.again(transaction, ask, since);
            done = true;
            return answer;
        } catch (DatabaseException e) {
            return RealTable.meaningOf(e.sqlException());
        } finally {
            if (on >= RealTable.TRANSACTIONS && done) {
                transaction.commit();
            } else if (on >= RealTable.TRANSACTIONS) {
                transaction.rollback();
            }
        }
    }

    private Future<Object> begin(int on, TableOp op, boolean patient) {
        Future<Object> running = real.begin(on, op, patient);
        last.set(on, running);
        return running;
    }

    private void compare(int on, TableOp op, Future<Object> running, Object simulated) throws Exception {
        Object server = answerOf(running);
        if (server == null) {
            throw differs("waits", simulated);
        }
        looked();
        TableAnswers answers = real.hasClockThatStandsStill()
                ? new TableAnswers(H2_TOLERANCE, H2_TOLERANCE)
                : new TableAnswers(TOLERANCE, longestLook + TOLERANCE);
        if (!answers.alike(op.kind(), server, simulated)) {
            throw differs(server, simulated);
        }
        told.add("   " + TableAnswers.told(server));
        if (on < RealTable.TRANSACTIONS
                && op.place() != TableOp.Place.TRANSACTION
                && (simulated.equals(OptionalLong.empty())
                        || simulated.equals(List.of())
                        || simulated instanceof Meaning)) {
            end(on, false, "because nothing came of it");
        }
    }

    /** Returns the answer; null if it does not come, and the server says for a while that too many wait. */
    private @Nullable Object answerOf(Future<Object> running) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        int looks = 0;
        while (looks < TOO_MANY_LOOKS && System.nanoTime() < end) {
            try {
                return running.get(50, TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                looks = real.waiting() > waiting.size() ? looks + 1 : 0;
            } catch (ExecutionException e) {
                return e.getCause();
            }
        }
        return null;
    }

    private void end(int on, boolean commit, String why) throws Exception {
        told.add(on + ": " + (commit ? "commit " : "rollback ") + why);
        look();
        real.end(on, commit);
        SimRows.@Nullable Transaction transaction = open[on];
        open[on] = null;
        commitsLate[on] = false;
        if (transaction != null && commit) {
            transaction.commit();
        } else if (transaction != null) {
            transaction.rollback();
        }
        for (Waiting each : List.copyOf(waiting)) {
            // it may have gone on already, if what came of the one before it ended a transaction
            if (waiting.contains(each)) {
                goOn(each);
            }
        }
        awaitWaits();
    }

    private void goOn(Waiting statement) throws Exception {
        Object simulated;
        try {
            simulated = answer(statement.on, statement.transaction, statement.ask, statement.since);
        } catch (SimRows.Blocked still) {
            return;
        }
        waiting.remove(statement);
        told.add(statement.on + ": " + statement.op.what() + ", which has waited");
        compare(statement.on, statement.op, statement.real, simulated);
    }

    /** Waits until the server has as many statements waiting as the simulation. */
    private void awaitWaits() throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!waiting.isEmpty()) {
            boolean all = real.waiting() == waiting.size();
            for (Waiting each : waiting) {
                if (each.real.isDone()) {
                    throw differs(each.on + ": " + each.op.what() + ": " + each.real.get(), "it waits");
                }
            }
            if (all) {
                break;
            }
            if (System.nanoTime() > end) {
                throw differs("not all of them wait", waiting.size() + " wait");
            }
        }
        looked();
    }

    private Differs differs(@Nullable Object server, Object simulated) {
        return new Differs("the server says     " + (server == null ? "null" : TableAnswers.told(server))
                + "\nthe simulation says " + TableAnswers.told(simulated));
    }

    private boolean waits(int on) {
        return waiting.stream().anyMatch(each -> each.on == on);
    }

    private SimRows.Transaction transaction(int on) {
        if (on >= RealTable.TRANSACTIONS) {
            return table.begin();
        }
        SimRows.@Nullable Transaction running = open[on];
        if (running == null) {
            running = table.begin();
            open[on] = running;
        }
        return running;
    }

    private @Nullable LockRow seen(SimRows.Transaction transaction, LockName name) {
        List<LockRow> rows = table.run(transaction, Ask.rows(store.sql.read, Params.of(name), LockRow::read));
        return rows.isEmpty() ? null : rows.get(0);
    }

    /** Both go by the same clock, as it is now. */
    private void look() throws SQLException {
        looked = System.nanoTime();
        table.clock = real.now();
    }

    /** The server has read its clock by now. */
    private void looked() {
        longestLook = Math.max(longestLook, TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - looked));
    }

    /** Whatever became of it, nothing stays open. */
    private void leave() throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        boolean all = false;
        while (!all && System.nanoTime() < end) {
            for (int on = 0; on < RealTable.TRANSACTIONS; on++) {
                if (isDone(last.get(on))) {
                    real.end(on, false);
                }
            }
            all = last.stream().allMatch(TableHistory::isDone);
            if (!all) {
                TimeUnit.MILLISECONDS.sleep(1);
            }
        }
        for (int on = 0; on < RealTable.TRANSACTIONS; on++) {
            real.end(on, false);
        }
    }

    private static boolean isDone(@Nullable Future<Object> running) {
        return running == null || running.isDone();
    }
}
