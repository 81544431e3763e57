// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import java.util.List;

/** The flaws that the simulation must find. */
final class Mutants {

    static final List<Mutant> ALL = List.of(
            new Mutant(
                    "an attempt stays under way for ever",
                    "lease.WaitQueue",
                    "attempting = false;\n            again = false;",
                    "again = false;"),
            new Mutant(
                    "no poll follows the first",
                    "lease.WaitQueues",
                    "queues.values().forEach(this::cleanUpOrSchedule);",
                    ""),
            new Mutant("polling stays under way for ever", "lease.WaitQueues", "polling.set(false);", ""),
            new Mutant(
                    "the next look is far in the future",
                    "lease.WaitQueue",
                    "return nextPoll = share.ifStandingBack(ticker.now() + wait);",
                    "return nextPoll = share.ifStandingBack(ticker.now() + 1000 * wait);"),
            new Mutant(
                    "a process stands back for ever",
                    "lease.FairShare",
                    "return standBackUntil = now + (yields ? standBack : 0);",
                    "return standBackUntil = now + (yields ? 1000 * standBack : 0);"),
            new Mutant(
                    "a failed attempt is not followed by another",
                    "lease.WaitQueues",
                    "attempt(queue);\n            } else {\n                cleanUpOrSchedule(queue);\n            }",
                    "attempt(queue);\n            }"),
            new Mutant(
                    "a lease is counted from the answer",
                    "lease.Grants",
                    "long deadline = outcome.sentAt().ticks() + request",
                    "long deadline = instance.ticker.now() + request"),
            new Mutant(
                    "a renewal is counted from the answer",
                    "lease.Renewer",
                    "boolean newest = lease.confirm(sentAt, TimeUnit",
                    "boolean newest = lease.confirm(ticker.clocks(), TimeUnit"),
            new Mutant(
                    "a renewal is always believed to have worked",
                    "lease.Renewer",
                    ".then(renewed -> renewed == rowsOf(batch) ? confirmed(batch, sentAt) : inspect(batch))",
                    ".then(renewed -> confirmed(batch, sentAt))"),
            new Mutant(
                    "a row that was skipped counts as renewed",
                    "lease.Renewer",
                    "if (least.toNanos() > asked / 4 * 3) {\n            confirmed(lease, sentAt, TimeUnit.NANOSECONDS.toMicros(least.toNanos()));",
                    "if (least.toNanos() > 0) {\n            confirmed(lease, sentAt, micros(lease, sentAt.ticks()));"),
            new Mutant(
                    "an attempt without an answer counts as granted",
                    "lease.Grants",
                    ".then(found -> found.granted() ? Plan.of(new Outcome(found, sentAt)) : again(e));",
                    ".then(found -> Plan.of(new Outcome(found.granted() ? found : new ClaimResult(claim.secret(), 1, false, false, false, null), sentAt)));"),
            new Mutant(
                    "a hand-over is counted from the answer",
                    "lease.Releases",
                    "new Grants.Outcome(answer, sentAt)",
                    "new Grants.Outcome(answer, instance.ticker.clocks())"),
            new Mutant("a fence is used again", "lease.FenceReserve", "return ++fence;", "return fence;"),
            new Mutant(
                    "a loss is told twice",
                    "lease.LeaseHandle",
                    "keeper.lost(this, reason.why(), telling);",
                    "keeper.lost(this, reason.why(), telling);\n            keeper.lost(this, reason.why(), telling);"),
            new Mutant(
                    "a waiter who left keeps the lease",
                    "lease.WaitQueues",
                    "return first.serve(lease)\n                    ? Plan.of(true)",
                    "return first.serve(lease) || true\n                    ? Plan.of(true)"),
            new Mutant(
                    "a waiter who left keeps the lease that is handed over",
                    "lease.Releases",
                    "return next.serve(handed) ? Plan.of(true)",
                    "return next.serve(handed) || true ? Plan.of(true)"),
            new Mutant(
                    "a lock is released by name",
                    "lease.Releases",
                    "store.release(key.name(), key.secret(), waiting.waitFor(key.name()))",
                    "store.read(key.name()).then(row -> store.release(key.name(), row.map(each -> String.valueOf(each.lockId())).orElse(\"\"), waiting.waitFor(key.name())))"),
            new Mutant(
                    "a lock that is given back wakes nobody",
                    "lease.WaitQueues",
                    "remember(names, share);\n        }\n        wake(names);",
                    "remember(names, share);\n        }"),
            new Mutant(
                    "a lost lease wakes nobody",
                    "lease.LeaseEngine",
                    "instance.driver.start(Plan.DONE.last(done -> wake(lease.names())));",
                    ""),
            new Mutant("news during an attempt is forgotten", "lease.WaitQueue", "again |= attempting;", ""),
            new Mutant(
                    "the end of the holder's lease is not looked at",
                    "lease.WaitQueue",
                    "Math.min(Math.max(interval, atLeastNanos), Math.max(holderEndsNanos, 1_000_000))",
                    "Math.max(interval, atLeastNanos)"),
            new Mutant(
                    "a row that is locked counts as lost",
                    "sql.Gone",
                    "return row.held() ? null : lost(\"it expired\");",
                    "return lost(\"it expired\");"),
            new Mutant(
                    "an attempt without an answer counts as refused",
                    "lease.Grants",
                    "case UNKNOWN ->\n                    resolve(names, claim, e)",
                    "case UNKNOWN -> tries > 0 ? refused(sentAt) : resolve(names, claim, e)"),
            new Mutant(
                    "an attempt that could not be found out about is not released later",
                    "lease.Grants",
                    "cause.addSuppressed(e);\n                    late.add(names, claim.secret(), claim.micros());",
                    "cause.addSuppressed(e);"),
            new Mutant(
                    "a hand-over of nothing counts as done",
                    "lease.Releases",
                    "if (!answer.granted()) {\n                return Plan.of(false);",
                    "if (!answer.granted()) {\n                return Plan.of(true);"),
            new Mutant(
                    "fences are used that were not set aside",
                    "lease.Request",
                    "return new Claim(secret, owner, Limits.micros(duration), note, again, reserve);",
                    "return new Claim(secret, owner, Limits.micros(duration), note, again, 0);"),
            new Mutant(
                    "the table is not told who has the lock",
                    "lease.PassingOn",
                    "first.passesOnWith(fences);\n        settleSoon(fences, null);",
                    "first.passesOnWith(fences);"),
            new Mutant(
                    "a loss is not told",
                    "lease.LeaseEngine",
                    "telling.execute(() -> instance.tell(Kind.LOST, lease, reason));",
                    ""),
            new Mutant(
                    "a lease that was given back is lost later",
                    "lease.LeaseState",
                    "return state != State.LOST && state != State.RELEASED;",
                    "return state != State.LOST;"),
            new Mutant(
                    "the timer does not notice the end of a lease",
                    "lease.Renewer",
                    "lease.expireIfDue(toTell::add);",
                    ""),
            new Mutant(
                    "a lost lease of several names leaves the others taken",
                    "lease.LeaseEngine",
                    "if (lease.names().size() > 1) {",
                    "if (lease.names().size() > 2) {"),
            new Mutant(
                    "a renewal that failed is under way for ever", "lease.Renewer", "underWay.removeAll(batch);", ""),
            new Mutant(
                    "a lease is renewed once only",
                    "lease.Renewer",
                    "schedule(lease, last ? lease.deadline() : sentAt.ticks() + third(lease));",
                    "schedule(lease, lease.deadline());"),
            new Mutant(
                    "a release that failed is not put off",
                    "lease.Releases",
                    "putOff(lease, notFreeBefore, e.getMessage());",
                    ""),
            new Mutant(
                    "late releases are tried once",
                    "lease.LateReleases",
                    ".filter(entry -> entry.until.passed())",
                    ".filter(entry -> true)"),
            new Mutant("late releases run once", "lease.LateReleases", "running.set(false);", ""),
            new Mutant(
                    "those who wait are not told that the instance is closed",
                    "lease.LeaseEngine",
                    "waiting.failAll(Instance.ending());",
                    ""),
            new Mutant("closing gives nothing back", "lease.Releases", "late.drain(end);", ""),
            new Mutant(
                    "a lock that is taken again is known under an id of its own",
                    "sql.ClaimResult",
                    "return new ClaimResult(row.lockId(), row.fence(), row.wanted(), again",
                    "return new ClaimResult(claim.secret(), row.fence(), row.wanted(), again"),
            new Mutant(
                    "a late release frees a lock that its owner has taken again",
                    "lease.LateReleases",
                    ": store.releaseAll(rows).ifFailed(e -> {",
                    ": store.releaseAll(rows).then(all -> Plan.all(rows, row -> store.release(row.name(), row.secret(), false).map(one -> true)).map(each -> all)).ifFailed(e -> {"),
            new Mutant(
                    "those who come while a lease is held here wait for its end, and nobody hands it on",
                    "lease.Releases",
                    ": handOver(lease).then(handed -> handed ? Plan.DONE : giveBack(lease)))",
                    ": handOver(lease).then(handed -> handed ? Plan.DONE : Plan.DONE))"),
            new Mutant(
                    "what was freed late is looked for before it is entered",
                    "lease.LateReleases",
                    "keep(names, secret, remaining, notFreeBefore);\n        wake();",
                    "wake();"),
            new Mutant(
                    "a lease that passed on carries the fence of the one before",
                    "lease.Grants",
                    "new GrantKey(from.name(), fences.nextFence(), from",
                    "new GrantKey(from.name(), from.fence(), from"),
            new Mutant(
                    "the others are not told that somebody waits",
                    "lease.WaitQueues",
                    "row -> held.holds(row) || row.wanted() ? Plan.of(true) : markWanted(row.name())",
                    "row -> Plan.of(true)"),
            new Mutant(
                    "the first in the queue is not tried for",
                    "lease.WaitQueues",
                    "} else if (queue.isFirst(waiter)) {",
                    "} else if (false) {"),
            new Mutant(
                    "an answer that was overtaken prolongs a lease",
                    "lease.LeaseState",
                    "deadline = !slept ? Math.max(deadline, until) : newest ? until : deadline;",
                    "deadline += nanos;"),
            new Mutant(
                    "a renewal is put off until the lease has ended",
                    "lease.Renewer",
                    "long at = lease.deadline() - 2 * third(lease);",
                    "long at = lease.deadline();"),
            new Mutant(
                    "a row is swept as soon as it is free",
                    "sql.AdminSql",
                    "Params.none().set(\"idle\", micros).set(\"limit\", BATCH),\n                row -> new Idle(LockName.of(row.getString(1), row.getString(2)), row.getLong(3))));\n    }\n\n    /** Removes an idle row if it is still idle. */\n    public Plan<Boolean> deleteIdle(Idle idle, long micros) {\n        Params params = Params.of(idle.name()).set(\"fence\", idle.fence()).set(\"idle\", micros);",
                    "Params.none().set(\"idle\", 0).set(\"limit\", BATCH),\n                row -> new Idle(LockName.of(row.getString(1), row.getString(2)), row.getLong(3))));\n    }\n\n    /** Removes an idle row if it is still idle. */\n    public Plan<Boolean> deleteIdle(Idle idle, long micros) {\n        Params params = Params.of(idle.name()).set(\"fence\", idle.fence()).set(\"idle\", 0);"),
            new Mutant(
                    "a guard that finds nothing passes",
                    "sql.GuardSql",
                    "if (rows.isEmpty()) {\n            throw whyNot(connection, key, null, lost);",
                    "if (rows.isEmpty()) {\n            return look(connection, key).orElseThrow();"),
            new Mutant(
                    "a guard that is refused leaves what was written",
                    "sql.GuardSql",
                    "connection.rollback();",
                    "connection.hashCode();"),
            new Mutant(
                    "a transaction is guarded only once",
                    "lease.LeaseEngine",
                    "GuardSql pins = guardFor(connection);",
                    "record Seen() {\n            static final java.util.Set<Connection> ALL = java.util.concurrent.ConcurrentHashMap.newKeySet();\n        }\n        if (!Seen.ALL.add(connection)) {\n            return;\n        }\n        GuardSql pins = guardFor(connection);"),
            new Mutant(
                    "a guard of a group pins one of its locks",
                    "lease.LeaseEngine",
                    "for (LockName name : lease.names()) {\n            pins.pin(",
                    "for (LockName name : List.of(lease.name())) {\n            pins.pin("),
            new Mutant("a loss that a guard finds is not noted", "lease.LeaseEngine", "lease.lose(gone);", ""));

    /** Flaws that it does not see yet. */
    static final List<Mutant> UNSEEN = List.of(
            new Mutant(
                    "a late release wakes nobody",
                    "lease.LateReleases",
                    "entries.remove(entry.secret);\n        freed.accept(entry.names);",
                    "entries.remove(entry.secret);"),
            new Mutant(
                    "a lease is counted by a clock that stood still while the host slept",
                    "lease.LeaseState",
                    "deadline = !slept ? Math",
                    "deadline = true ? Math"),
            new Mutant(
                    "a release that is put off leaves those who counted on it asleep",
                    "lease.Releases",
                    "waiting.wake(lease.names());\n        Log.warn(",
                    "Log.warn("),
            new Mutant(
                    "an inspection does not look at the secret",
                    "sql.Gone",
                    "if (row.isOf(key.secret())) {\n            return row.held()",
                    "if (row.lockId() != null) {\n            return row.held()"),
            new Mutant("a lock that was taken away wakes nobody here", "lease.LeaseEngine", "wake(List.of(name));", ""),
            new Mutant(
                    "a lease begins while everything is being closed",
                    "lease.Grants",
                    "if (!instance.hasEnded()) {",
                    "if (true) {"),
            new Mutant(
                    "a holder believes what the renewal asked for, not what the table says",
                    "lease.Renewer",
                    "return reasons.isEmpty() ? null : Gone.mostTelling(reasons);",
                    "return null;"),
            new Mutant(
                    "a lock is marked as waited for, and nobody looks whether that worked",
                    "lease.WaitQueues",
                    "known || queue.hasSeen(fence) ? ends : Math.min(ends, CHANGED_POLL),",
                    "ends,"),
            new Mutant(
                    "a release that finds nothing counts as done",
                    "lease.Releases",
                    "if (result.answer().isEmpty()) {\n            throw new LockingFailException(name, \"its row",
                    "if (false) {\n            throw new LockingFailException(name, \"its row"),
            new Mutant(
                    "a queue that attempts is retired",
                    "lease.WaitQueue",
                    "waiters.isEmpty() && !attempting;",
                    "waiters.isEmpty();"),
            new Mutant(
                    "who comes while the lock is held here is not seen",
                    "lease.HeldLeases",
                    "return lease != null && lease.active() && lease.names().equals(names);",
                    "return lease != null;"),
            new Mutant(
                    "an attempt that was not found is not released later",
                    "lease.Grants",
                    "if (!found.granted()) {\n                        late.add(names, claim.secret(), claim.micros());",
                    "if (!found.granted()) {"),
            new Mutant(
                    "a hand-over without an answer is not released later",
                    "lease.Releases",
                    "late.add(lease.names(), claim.secret(), claim.micros());\n                        return ClaimResult.refused(null);",
                    "return ClaimResult.refused(null);"),
            new Mutant(
                    "the next in line gets the lock in spite of a share that is used up",
                    "lease.FairShare",
                    "return !wanted || !isLong;",
                    "return true;"),
            new Mutant("a lease passes on after the host slept", "lease.PassingOn", "&& !lease.mayHaveSlept()", ""),
            new Mutant(
                    "a lease passes on after its reserve has ended",
                    "lease.FenceReserve",
                    "return fence < last && now - until < 0;",
                    "return fence < last;"),
            new Mutant(
                    "a lease that passes on is counted anew",
                    "lease.Grants",
                    "clocks(), from.deadline());",
                    "clocks(), instance.ticker.now() + request.duration().toNanos());"),
            new Mutant(
                    "the table is told only once who has the lock",
                    "lease.PassingOn",
                    "settleSoon(fences, active ? null : lease);",
                    ""),
            new Mutant(
                    "a lease goes on passing on while the table is told",
                    "lease.PassingOn",
                    "lease.passesOnByStatement();",
                    ""),
            new Mutant(
                    "an expired lease that was prolonged after all stays taken",
                    "lease.LeaseHandle",
                    "keeper.releaseLater(this);",
                    ""),
            new Mutant(
                    "a lease is not renewed again after a failure",
                    "lease.Renewer",
                    "schedule(lease, ticker.now() + Math.max(SOON, third(lease) / 6));",
                    "schedule(lease, lease.deadline());"),
            new Mutant(
                    "a lease that was given back is renewed",
                    "lease.LeaseEngine",
                    "Plan<@Nullable Void> release(LeaseHandle lease) {\n        held.remove(lease);",
                    "Plan<@Nullable Void> release(LeaseHandle lease) {"),
            new Mutant(
                    "late releases give up at the first failure",
                    "lease.LateReleases",
                    "if (!entries.isEmpty()) {\n                    alarm.setTo",
                    "if (failure == null && Boolean.TRUE.equals(answered) && !entries.isEmpty()) {\n                    alarm.setTo"),
            new Mutant(
                    "a late release is done when the row is locked",
                    "lease.LateReleases",
                    ".noneMatch(row -> row.isOf(entry.secret))",
                    ".noneMatch(row -> false)"),
            new Mutant(
                    "what became of an attempt is read without a write",
                    "sql.LockStore",
                    "return number(sql.probe, Params.of(name))\n",
                    "return Plan.of(OptionalLong.of(1))\n"));

    private Mutants() {}
}
