// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.work;

import static io.bitjang.races.Race.promise;

import io.bitjang.races.HandWorkers;
import io.bitjang.races.Race;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/** An alarm is set while it rings, or by two at a time. */
class AlarmRaceTest {

    private static final long SOON = 5_000_000;
    private static final long LATER = 50_000_000;

    /** Work that is left for an alarm: each note is made before the alarm is set, and whoever rings takes all that there are. */
    public static class Notes {
        final HandWorkers workers = new HandWorkers();
        private final long begun = workers.ticker().now();
        private final Alarm alarm = new Alarm(workers, this::rings);
        volatile boolean soon;
        volatile boolean later;

        private void rings() {
            soon = false;
            later = false;
        }

        final void leaveForSoon() {
            soon = true;
            alarm.setTo(begun + SOON);
        }

        final void leaveForLater() {
            later = true;
            alarm.setTo(begun + LATER);
        }
    }

    /** Two set it to different times. */
    public static class SetByTwo extends Notes {

        @Operation
        public void leavesForSoon() {
            leaveForSoon();
        }

        @Operation
        public void leavesForLater() {
            leaveForLater();
        }

        @Validate
        public void promised() {
            workers.pass(SOON);
            promise("it rang for the earlier", !soon);
            workers.pass(LATER);
            promise("and for the later", !later);
        }
    }

    @Test
    void alarm_that_two_set_rings_for_the_earlier() {
        Race.tryOrders(SetByTwo.class);
    }

    /** It is set while it rings. */
    public static class SetWhileItRings extends Notes {

        public SetWhileItRings() {
            leaveForSoon();
        }

        @Operation
        public void timePasses() {
            workers.pass(SOON);
        }

        @Operation
        public void leavesForLater() {
            leaveForLater();
        }

        @Validate
        public void promised() {
            workers.pass(LATER);
            promise("nothing is left", !soon && !later);
        }
    }

    @Test
    void alarm_that_is_set_while_it_rings_rings_again() {
        Race.tryOrders(SetWhileItRings.class);
    }
}
