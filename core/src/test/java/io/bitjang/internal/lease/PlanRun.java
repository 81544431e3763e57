// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.internal.sql.Ask;
import io.bitjang.internal.sql.Plan;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Goes through a plan step by step: it stops wherever the plan asks the database or pauses, and goes on when it is told what came of
 * that. Not thread-safe.
 */
@SuppressWarnings({"unchecked", "rawtypes"}) // plans let only the right types meet
final class PlanRun {

    /** Where a plan stops. */
    interface World {
        /** It asks, on the connection that it has or on one for this statement. */
        void ask(PlanRun run, Ask<?> ask);

        /** It sleeps. */
        void pause(PlanRun run, long millis);

        /** It wants one connection for several statements. */
        void open(PlanRun run, boolean together);

        /** It is done with the connection. Goes on with {@link PlanRun#goOn} or {@link PlanRun#fail}. */
        void close(PlanRun run, boolean well);

        /** It has ended. */
        void ended(PlanRun run, @Nullable Object value, @Nullable Throwable failure);
    }

    private static final Object VISIT = new Object();

    private final World world;
    private final Deque<Object> frames = new ArrayDeque<>();
    private @Nullable Object closingValue;
    private @Nullable Throwable closingFailure;

    /** The world's own note. */
    @Nullable
    Object connection;

    PlanRun(World world) {
        this.world = world;
    }

    void start(Plan<?> plan) {
        enter(plan);
    }

    private void enter(Plan<?> first) {
        Plan<?> plan = first;
        while (true) {
            if (plan instanceof Plan.Then then) {
                frames.push(then);
                plan = then.first();
            } else if (plan instanceof Plan.Otherwise otherwise) {
                frames.push(otherwise);
                plan = otherwise.first();
            } else if (plan instanceof Plan.Ended ended) {
                frames.push(ended);
                plan = ended.plan();
            } else if (plan instanceof Plan.Each each) {
                plan = unrolled(each.each(), each.plan(), 0, true);
            } else if (plan instanceof Plan.Deaf deaf) {
                plan = deaf.plan();
            } else if (plan instanceof Plan.Visit visit && connection == null) {
                frames.push(VISIT);
                world.open(this, visit.together());
                plan = visit.plan();
            } else if (plan instanceof Plan.Visit visit) {
                plan = visit.plan();
            } else if (plan instanceof Plan.Of of) {
                @Nullable Plan<?> next = leave(of.value(), null);
                if (next == null) {
                    return;
                }
                plan = next;
            } else if (plan instanceof Plan.Failed failed) {
                @Nullable Plan<?> next = leave(null, failed.reason());
                if (next == null) {
                    return;
                }
                plan = next;
            } else if (plan instanceof Plan.Asked asked) {
                world.ask(this, asked.ask());
                return;
            } else if (plan instanceof Plan.Pause pause) {
                world.pause(this, pause.millis());
                return;
            } else {
                throw new IllegalStateException("unknown plan " + plan);
            }
        }
    }

    private static Plan<Boolean> unrolled(List<?> each, Function plan, int from, boolean all) {
        return from == each.size()
                ? Plan.of(all)
                : ((Plan<Boolean>) plan.apply(each.get(from))).then(one -> unrolled(each, plan, from + 1, all && one));
    }

    /** An answer came, or a pause is over. */
    void goOn(@Nullable Object value) {
        resume(value, null);
    }

    /** There is no answer. */
    void fail(Throwable failure) {
        resume(null, failure);
    }

    /** The connection was closed. */
    void closed(@Nullable Throwable failure) {
        resume(closingValue, closingFailure != null ? closingFailure : failure);
    }

    private void resume(@Nullable Object value, @Nullable Throwable failure) {
        @Nullable Plan<?> next = leave(value, failure);
        if (next != null) {
            enter(next);
        }
    }

    /** Goes back to whoever waits for this; what is to be entered next, or null if it stopped or ended. */
    private @Nullable Plan<?> leave(@Nullable Object firstValue, @Nullable Throwable firstFailure) {
        @Nullable Object value = firstValue;
        @Nullable Throwable failure = firstFailure;
        while (!frames.isEmpty()) {
            Object frame = frames.pop();
            try {
                if (frame == VISIT) {
                    closingValue = value;
                    closingFailure = failure;
                    world.close(this, failure == null);
                    return null;
                } else if (frame instanceof Plan.Then then && failure == null) {
                    return ((Function<@Nullable Object, Plan<?>>) then.next()).apply(value);
                } else if (frame instanceof Plan.Otherwise otherwise && failure instanceof RuntimeException known) {
                    @Nullable
                    Plan<?> next = ((Function<RuntimeException, @Nullable Plan<?>>) otherwise.next()).apply(known);
                    if (next != null) {
                        return next;
                    }
                } else if (frame instanceof Plan.Ended ended) {
                    ((BiConsumer<@Nullable Object, @Nullable Throwable>) ended.last()).accept(value, failure);
                    value = null;
                    failure = null;
                }
            } catch (RuntimeException e) {
                value = null;
                failure = e;
            }
        }
        world.ended(this, value, failure);
        return null;
    }
}
