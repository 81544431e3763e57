// SPDX-License-Identifier: Apache-2.0
package io.bitjang.races;

import io.bitjang.internal.work.Log;
import java.lang.reflect.Method;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.jetbrains.kotlinx.lincheck.Actor;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionResult;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario;
import org.jetbrains.kotlinx.lincheck.util.ExceptionResult;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.verifier.Verifier;

/**
 * A few steps on several threads, in one order after the other. Lincheck decides before each access to what threads share who goes
 * on: first it tries all orders with one change of threads, then those with two, and so on, always the same ones.
 */
public final class Race {

    private static final boolean SOAK = Boolean.getBoolean("bitjang.soak");
    private static final int MOST = Integer.getInteger("races.orders", SOAK ? 20_000 : 300);

    /** On a machine that has much else to do, threads stand still for long. What hangs for good is found without a clock. */
    private static final long PATIENCE = 600_000;

    private static final Logger WARNINGS = Logger.getLogger("io.bitjang");

    private Race() {}

    /**
     * Makes an instance of the class for each order, and runs its operations on it at the same time, each on a thread of its own. Then
     * the promise is looked at. Nothing that two instances share may change, and there must be no chance in it. Whoever throws or
     * waits for ever fails the test, whose message shows the order.
     */
    public static void tryOrders(Class<?> race) {
        tryOrders(race, MOST);
    }

    /** Tries no more orders than this in an ordinary build: for races of many steps. */
    public static void tryOrders(Class<?> race, int most) {
        List<List<Actor>> threads = Stream.of(race.getMethods())
                .filter(method -> method.isAnnotationPresent(Operation.class))
                .map(Method::getName)
                .sorted()
                .map(name -> List.of(new Actor(method(race, name), List.of())))
                .toList();
        // what a logger does the first time it does not do the second time
        WARNINGS.setLevel(Level.OFF);
        Log.debug("A race begins");
        new ModelCheckingOptions()
                .iterations(0)
                .addCustomScenario(new ExecutionScenario(List.of(), threads, List.of(), null))
                .invocationsPerIteration(SOAK ? MOST : Math.min(most, MOST))
                .invocationTimeout$lincheck(PATIENCE)
                .minimizeFailedScenario(false)
                .verifier(NothingThrown.class)
                .check(race);
    }

    /** Runs a race by the name of its class, for a core that is broken on purpose. */
    public static void main(String[] names) throws ClassNotFoundException {
        tryOrders(Class.forName(names[0]));
    }

    private static Method method(Class<?> race, String name) {
        try {
            return race.getMethod(name);
        } catch (NoSuchMethodException e) {
            throw new IllegalStateException(name + " must be public", e);
        }
    }

    /** Fails the race if the promise was broken. */
    public static void promise(String what, boolean kept) {
        if (!kept) {
            throw new AssertionError("broken: " + what);
        }
    }

    /** What the operations answer is for the promise to judge; none of them may throw. */
    public static final class NothingThrown implements Verifier {

        /** Made by Lincheck, with the class of the race. */
        public NothingThrown(Class<?> race) {}

        @Override
        public boolean verifyResults(ExecutionScenario scenario, ExecutionResult results) {
            return results.getParallelResultsWithClock().stream()
                    .flatMap(List::stream)
                    .noneMatch(result -> result.getResult() instanceof ExceptionResult);
        }
    }
}
