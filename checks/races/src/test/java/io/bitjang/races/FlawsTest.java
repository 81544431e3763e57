// SPDX-License-Identifier: Apache-2.0
package io.bitjang.races;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The races have teeth: each finds a flaw that is planted into the class whose promise it tries. */
class FlawsTest {

    private static final String LOCKS = """
                    lock.lock();
                    try {
                        return body.get();
                    } finally {
                        lock.unlock();
                    }
            """;

    private static Flaw flaw(String race, String type, String snippet, String instead) {
        return new Flaw(race, type, snippet, instead);
    }

    private static Stream<Flaw> withoutLock() {
        return Stream.of(
                        "work.CallbacksRaceTest$AddedByTwo",
                        "lease.LeaseStateRaceTest$BackOrLost",
                        "lease.LeaseStateRaceTest$ClosedByTwo",
                        "lease.LeaseStateRaceTest$ConfirmedLate",
                        "lease.LeaseStateRaceTest$ConfirmedTwice",
                        "lease.LeaseStateRaceTest$Doubted",
                        "session.HoldingRaceTest$Closed",
                        "session.HoldingRaceTest$TakenAgain",
                        "session.TurnsRaceTest$Comes")
                .map(race -> flaw(race, "work.Locked", LOCKS, "return body.get();"));
    }

    static Stream<Flaw> flaws() {
        return Stream.concat(withoutLock(), OTHERS.stream());
    }

    private static final List<Flaw> OTHERS = List.of(
            flaw(
                    "work.CallbacksRaceTest$AddedMeanwhile",
                    "work.Callbacks",
                    "locked(() -> begun = true);\n        callIfAny();",
                    "boolean any = locked(() -> !line.isEmpty());\n        locked(() -> begun = true);\n"
                            + "        if (any) callIfAny();"),
            flaw(
                    "work.WaiterRaceTest$AtTheDeadline",
                    "work.Waiter",
                    "            fail(timedOut());",
                    "            throw timedOut();"),
            flaw(
                    "work.WaiterRaceTest$AtAnInterrupt",
                    "work.Waiter",
                    "fail(new LockException(names.get(0), \"Interrupted while waiting for \" + names.get(0), e));",
                    "throw new LockException(names.get(0), \"Interrupted\", e);"),
            flaw(
                    "work.WaiterRaceTest$ServedByTwo",
                    "work.Waiter",
                    "return result.complete(served);",
                    "boolean first = !result.isDone();\n        result.complete(served);\n        return first;"),
            flaw(
                    "work.AlarmRaceTest$SetByTwo",
                    "work.Alarm",
                    "public void setTo(long moment) {",
                    "public void setTo(long moment) {\n        if (pending == null) at = moment;"),
            flaw(
                    "work.AlarmRaceTest$SetWhileItRings",
                    "work.Alarm",
                    "            pending = null;\n            notBefore = workers.ticker().now() + SHORTEST_PAUSE;\n"
                            + "        } finally {\n            lock.unlock();\n        }\n        task.run();",
                    "            lock.unlock();\n            task.run();\n            lock.lock();\n"
                            + "            pending = null;\n        } finally {\n            lock.unlock();\n        }"),
            flaw(
                    "lease.HeldLeasesRaceTest$RenewedLate",
                    "lease.HeldLeases",
                    "return renewals.replace(lease, at) != null;",
                    "return renewals.containsKey(lease) && renewals.put(lease, at) != null;"),
            flaw(
                    "lease.HeldLeasesRaceTest$RemovedLate",
                    "lease.HeldLeases",
                    "lease.names().forEach(name -> byName.remove(name, lease));",
                    "lease.names().forEach(name -> {\n            if (byName.get(name) == lease) byName.remove(name);\n"
                            + "        });"),
            flaw(
                    "lease.LeaseHandleRaceTest$Closed",
                    "lease.LeaseHandle",
                    "if (endQuietly()) {",
                    "if (active() && (endQuietly() || true)) {"),
            flaw(
                    "lease.LeaseHandleRaceTest$CalledBack",
                    "lease.LeaseState",
                    "return told |= state == State.LOST;",
                    "return false;"),
            flaw(
                    "lease.LeaseHandleRaceTest$Expired",
                    "lease.LeaseHandle",
                    "if (end(false, Gone.lost(reason), telling)) {",
                    "end(false, Gone.lost(reason), telling);\n        if (!active()) {"),
            flaw(
                    "lease.WaitQueueRaceTest$Joined",
                    "lease.WaitQueue",
                    "return locked(() -> !retired && waiters.add(waiter));",
                    "return locked(() -> !retired) && locked(() -> waiters.add(waiter));"),
            flaw("lease.WaitQueueRaceTest$TriedForByTwo", "lease.WaitQueue", "again |= attempting;", ""),
            flaw(
                    "lease.LateReleasesRaceTest$PutOff",
                    "lease.LateReleases",
                    "        keep(names, secret, remaining, notFreeBefore);\n        wake();",
                    "        wake();\n        keep(names, secret, remaining, notFreeBefore);"),
            flaw(
                    "lease.LateReleasesRaceTest$PutOff",
                    "lease.LateReleases",
                    "        drained = true;\n        if (entries.isEmpty()) {",
                    "        boolean none = entries.isEmpty();\n        drained = true;\n        if (none) {"),
            flaw(
                    "lease.EngineRaceTest$Comes",
                    "lease.WaitQueues",
                    "void enqueue(LeaseWaiter waiter) {",
                    // it looks before it is in the queue
                    "void enqueue(LeaseWaiter waiter) {\n        boolean early = this.held.holds(waiter.names());\n"
                            + "        java.util.function.Predicate<List<LockName>> looked = names -> early;\n"
                            + "        record Held(java.util.function.Predicate<List<LockName>> looked) {\n"
                            + "            boolean holds(List<LockName> names) {\n"
                            + "                return looked.test(names);\n            }\n        }\n"
                            + "        Held held = new Held(looked);"),
            flaw(
                    "lease.EngineRaceTest$Leaves",
                    "lease.Releases",
                    "return next.serve(handed) ? Plan.of(true) : handed.closingUnwanted().map(closed -> true);",
                    "return Plan.of(next.serve(handed) || true);"),
            flaw(
                    "lease.EngineRaceTest$ComesWhileClosing",
                    "lease.WaitQueues",
                    "if (instance.hasEnded()) {\n            waiter.fail",
                    "if (waiter.isDone()) {\n            waiter.fail"),
            flaw(
                    "lease.EngineRaceTest$TakenWhileClosing",
                    "lease.Grants",
                    "if (!instance.hasEnded()) {\n            return Plan.of(lease);",
                    "if (lease.active()) {\n            return Plan.of(lease);"),
            flaw(
                    "lease.EngineRaceTest$PassesOn",
                    "lease.PassingOn",
                    "if (!fences.goesOn(instance.ticker.now())) {",
                    "if (fences.holder == null) {"),
            flaw(
                    "session.HoldingRaceTest$CalledBack",
                    "session.Holding",
                    "return told |= state == State.LOST;",
                    "return false;"),
            flaw(
                    "session.TurnsRaceTest$Dies",
                    "session.Turns",
                    "while (!grant.link().isDead()) {",
                    "while (grant != null) {"),
            flaw(
                    "session.TurnsRaceTest$Leaves",
                    "session.Turns",
                    "if (waiter.serve(holding)) {",
                    "if (waiter.serve(holding) || true) {"));

    @Test
    void every_flaw_finds_its_snippet_once() throws IOException {
        for (Flaw flaw : flaws().toList()) {
            flaw.source();
        }
    }

    @Tag("soak")
    @ParameterizedTest(name = "{0}")
    @MethodSource("flaws")
    void race_finds_the_planted_flaw(Flaw flaw, @TempDir Path folder) throws IOException {
        // or somebody waits for ever
        assertThat(flaw.plantIn(folder)).containsAnyOf("broken: ", "has hung");
    }
}
