// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.internal.sql.Ask;
import io.bitjang.internal.sql.DatabaseException;
import io.bitjang.internal.sql.LockStore;
import io.bitjang.internal.sql.Plan;
import io.bitjang.internal.sql.SimFailures;
import io.bitjang.internal.sql.SimTable;
import io.bitjang.internal.time.Deadline;
import io.bitjang.internal.time.Ticker;
import io.bitjang.internal.work.Alarm;
import io.bitjang.internal.work.Events;
import io.bitjang.internal.work.Workers;
import io.bitjang.spi.LockListener;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** One process in the simulated world: its clock, its workers, its way to the database, and the real engine on top. */
final class SimProcess implements Workers, Driver, PlanRun.World {

    /** How many statements a process may have under way: there are a few people in it, and it does a few things of its own. */
    private static final int MOST_ASKED = 16;

    private static final long FAR = Duration.ofHours(1).toNanos();
    private static final Duration LOCK_TIMEOUT = Duration.ofMillis(150);

    final SimWorld world;
    final int number;
    final LeaseEngine engine;
    final LockStore store;
    final Ticker ticker = new SimTicker();
    final SimWakeUps wakeUps;
    final SimLine line;
    private final SimPromised promised;
    boolean dead;
    boolean closed;

    /** How many statements have no answer yet. */
    int asked;

    private long frozenUntil = -1;
    private long closedAt;

    /** By how much the wall clock ran ahead while the process was stopped. */
    private long slept;

    private int secrets;

    SimProcess(SimWorld world, int number, LockListener listener) {
        this.world = world;
        this.number = number;
        this.store = world.table.store(ticker, () -> "p" + number + "-" + ++secrets);
        SimWakeUps[] sources = new SimWakeUps[1];
        SimPromised[] promises = new SimPromised[1];
        this.line = new SimLine(this);
        this.engine = new LeaseEngine(
                new Instance(
                        this,
                        store,
                        new Events(List.of(listener)),
                        new Settings("node-" + number, world.kind.lease(), world.kind.lease(), false, false)),
                store.guard(SimWorld.NO_DATABASE),
                sleepers -> {
                    sources[0] = new SimWakeUps(this, sleepers);
                    WakeUps source = world.kind.line() ? line.over(sleepers, sources[0]) : sources[0];
                    return promises[0] = new SimPromised(world, source);
                });
        this.wakeUps = sources[0];
        this.promised = promises[0];
    }

    /** It stands still for so long, and its monotonic clock with it if the host was suspended. */
    void freeze(long nanos, boolean suspended) {
        if (!isFrozen()) {
            frozenUntil = world.now + nanos;
            slept += suspended ? nanos : 0;
        }
    }

    /** The application ends, and closes its instance first. What is under way goes on; nothing is begun any more. */
    void shutDown() {
        if (!closed) {
            world.log(this, "is closed");
            engine.close(ticker.in(Duration.ZERO));
            closed = true;
            world.anyClosed = true;
            closedAt = world.now;
        }
    }

    /** Tells whether it has been closed for so many nanoseconds. */
    boolean closedFor(long nanos) {
        return closed && world.now - closedAt > nanos && thawedFor(nanos);
    }

    /** Tells whether its host was ever suspended: its clock has missed that. */
    boolean hasSlept() {
        return slept > 0;
    }

    long frozenUntil() {
        return frozenUntil;
    }

    boolean isFrozen() {
        return frozenUntil > world.now;
    }

    /** Tells whether it has not stood still for so many nanoseconds. */
    boolean thawedFor(long nanos) {
        return frozenUntil < 0 || world.now - frozenUntil > nanos;
    }

    private void soon(long nanos, Runnable task) {
        world.at(nanos, this, task);
    }

    // workers

    @Override
    public Ticker ticker() {
        return ticker;
    }

    @Override
    public void execute(Runnable task) {
        if (closed) {
            return;
        }
        soon(world.thread(), () -> Workers.logged(task));
    }

    @Override
    public void callBack(Runnable code) {
        execute(code);
    }

    @Override
    public void aside(Runnable task) {
        execute(task);
    }

    @Override
    public void complete(Runnable task) {
        if (closed) {
            Workers.logged(task);
        } else {
            execute(task);
        }
    }

    @Override
    public Future<?> after(long nanos, Runnable task) {
        CompletableFuture<@Nullable Void> timer = new CompletableFuture<>();
        soon(Math.max(0, nanos), () -> {
            if (!closed && timer.complete(null)) {
                Workers.logged(task);
            }
        });
        return timer;
    }

    @Override
    public @Nullable Thread start(String name, Runnable work) {
        if (world.over || world.faults && world.choices.onceIn(20)) {
            return null;
        }
        SimThread thread = new SimThread(this, name, work);
        world.threads.add(thread);
        soon(world.thread(), thread::begin);
        return thread;
    }

    @Override
    public void close(Deadline end) {}

    // driver

    @Override
    public Alarm alarm(Runnable task) {
        return new Alarm(this, task);
    }

    @Override
    @SuppressWarnings("NullAway") // nobody looks at what comes of it
    public <T extends @Nullable Object> T run(Plan<T> plan) {
        soon(0, () -> new PlanRun(this).start(plan));
        return null;
    }

    @Override
    public void start(Plan<?> plan) {
        if (closed) {
            return;
        }
        soon(world.thread(), () -> new PlanRun(this).start(plan));
    }

    @Override
    public boolean start(String thread, Plan<?> plan) {
        soon(world.thread(), () -> new PlanRun(this).start(plan));
        return true;
    }

    // the way to the database

    @Override
    public void ask(PlanRun run, Ask<?> ask) {
        asked++;
        if (asked > MOST_ASKED) {
            world.broken("node-" + number + " waits for " + asked + " answers at once", null);
        }
        if (world.faults && world.choices.onceIn(40)) {
            soon(world.network(), () -> answered(() -> run.fail(SimWorld.failed())));
            return;
        }
        boolean requestLost = world.faults && world.choices.onceIn(30);
        boolean answerLost = world.faults && !requestLost && world.choices.onceIn(30);
        boolean[] given = new boolean[1];
        if (requestLost || answerLost) {
            // the client gives up; the request may still be on its way
            soon(world.patience(), () -> {
                given[0] = true;
                answered(() -> run.fail(SimWorld.unknown()));
            });
        }
        if (!requestLost) {
            SimTable.Transaction open = (SimTable.Transaction) run.connection;
            long waitsUntil = world.now + LOCK_TIMEOUT.toNanos();
            // the server goes on whatever becomes of the process
            world.at(world.network(), null, () -> execute(run, ask, open, answerLost ? given : null, waitsUntil, null));
        }
    }

    private void answered(Runnable then) {
        asked--;
        then.run();
    }

    private void execute(
            PlanRun run,
            Ask<?> ask,
            SimTable.@Nullable Transaction open,
            boolean @Nullable [] lost,
            long waitsUntil,
            SimTable.@Nullable Blocked waited) {
        SimTable.Transaction transaction = open != null ? open : world.table.begin();
        @Nullable Object answer = null;
        @Nullable DatabaseException failure = null;
        try {
            answer = world.table.again(transaction, ask, waited);
        } catch (DatabaseException e) {
            failure = e;
        } catch (SimTable.Blocked blocked) {
            if (world.now < waitsUntil) {
                world.at(1_000_000, null, () -> execute(run, ask, open, lost, waitsUntil, blocked));
                return;
            }
            failure = SimFailures.waitedTooLong();
        }
        if (open == null) {
            if (failure == null) {
                transaction.commit();
            } else {
                transaction.rollback();
            }
        }
        if (lost == null) {
            @Nullable Object value = answer;
            @Nullable DatabaseException reason = failure;
            soon(
                    world.network(),
                    () -> answered(() -> {
                        if (reason != null) {
                            run.fail(reason);
                        } else {
                            run.goOn(value);
                        }
                    }));
        }
    }

    @Override
    public void pause(PlanRun run, long millis) {
        soon(millis * 1_000_000, () -> run.goOn(true));
    }

    @Override
    public void open(PlanRun run, boolean together) {
        // with auto-commit every statement is a transaction of its own, on one connection or on many
        run.connection = together ? world.table.begin() : null;
    }

    @Override
    public void close(PlanRun run, boolean well) {
        SimTable.Transaction open = (SimTable.Transaction) run.connection;
        run.connection = null;
        if (open != null && well) {
            open.commit();
        } else if (open != null) {
            open.rollback();
        }
        run.closed(null);
    }

    @Override
    public void ended(PlanRun run, @Nullable Object value, @Nullable Throwable failure) {
        if (failure != null && !(failure instanceof io.bitjang.LockException)) {
            world.broken("a plan ended with " + failure, failure);
        }
    }

    private final class SimTicker implements Ticker {
        @Override
        public long now() {
            return world.now - slept;
        }

        @Override
        public long wallMillis() {
            return world.now / 1_000_000;
        }

        @Override
        public void park(long nanos) {
            SimThread.current().park(nanos);
        }

        @Override
        public void unpark(@Nullable Thread thread) {
            if (thread != null) {
                ((SimThread) thread).unpark();
            }
        }

        @Override
        public boolean sleep(long nanos) {
            throw new UnsupportedOperationException("nobody sleeps here");
        }

        @Override
        public long random(long below) {
            if (promised == null) {
                return number; // among those that wait
            }
            // a look is put off that is not needed, because a wake-up was promised
            return !world.kind.polls() && promised.promised() ? FAR : world.random(below);
        }
    }
}
