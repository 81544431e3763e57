// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import java.util.List;

/** The flaws of waiting that the simulation must find: of the line of processes, and of listening. */
final class LineMutants {

    static final List<Mutant> ALL = List.of(
            new Mutant("a turn in the line never ends", "lease.ProcessLine", "open.release(key);", ""),
            new Mutant("a turn is passed to nobody", "lease.ProcessLine", "sleepers.goFirst(name);\n", "\n"),
            new Mutant(
                    "a turn lasts as long as its process has the lock",
                    "lease.ProcessLine",
                    "looks++ < MOST_LOOKS",
                    "looks++ >= 0"),
            new Mutant(
                    "one whose turn has come leaves the lock to others",
                    "lease.ProcessLine",
                    "passedFor = passed ? name : null;\n        standsFor = null;",
                    "passedFor = passed ? name : null;"),
            new Mutant(
                    "a turn lasts though nobody waits any more",
                    "lease.ProcessLine",
                    "(sleepers.have(name) ? looks++ < MOST_LOOKS : sleepers.waitFor(name))",
                    "(!sleepers.have(name) || looks++ < MOST_LOOKS)"),
            new Mutant(
                    "the connection of the line is kept",
                    "lease.ProcessLine",
                    "while (!closed && !end.passed()) {",
                    "while (!closed) {"),
            new Mutant(
                    "the line is asked again and again",
                    "lease.ProcessLine",
                    "open.await(key, SLICE)",
                    "open.await(key, Duration.ofMillis(10))"));

    /** Flaws that it does not see within so few seeds, or not at all: most cost half a second. */
    static final List<Mutant> UNSEEN = List.of(
            new Mutant(
                    "the line is not left when nobody waits any more",
                    "lease.ProcessLine",
                    "while (!closed && !passed && sleepers.waitFor(name)) {",
                    "while (!closed && !passed) {"),
            new Mutant("one whose turn has come stands back", "lease.WaitQueues", "queue.share.comes();\n", "\n"),
            new Mutant(
                    "one who comes while the line is in use goes to sleep without standing in it",
                    "lease.WaitQueues",
                    "wakeUps.keepsOrder(waiter.names()) && wakeUps.want(waiter.names())",
                    "wakeUps.keepsOrder(waiter.names())"),
            new Mutant(
                    "one who goes to the end of the line does not stand in it",
                    "lease.WaitQueues",
                    "alarm.setTo(at);\n            wakeUps.want(names);",
                    "alarm.setTo(at);"),
            new Mutant(
                    "who began to listen after a look relies on it",
                    "lease.WaitQueues",
                    "known && wakeUps.willRing(queue.names, at) ?",
                    "known && wakeUps.willRing(queue.names, ticker.now()) ?"),
            new Mutant(
                    "a look that is under way when the lock is freed here says when to look next",
                    "lease.WaitQueue",
                    "looks++;\n            return nextPoll = at;",
                    "return nextPoll = at;"));

    private LineMutants() {}
}
