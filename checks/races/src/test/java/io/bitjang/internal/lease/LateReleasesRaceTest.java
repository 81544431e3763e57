// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import static io.bitjang.races.Race.promise;

import io.bitjang.internal.sql.OneRow;
import io.bitjang.internal.time.Deadline;
import io.bitjang.races.Race;
import java.util.List;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/** A release is put off while the instance is closed, and its rounds end. */
class LateReleasesRaceTest {

    /** A grant that is to be given back, and time that stands still, so that no alarm rings. */
    public static class Late {
        final Parts parts = new Parts();
        final LateReleases late = new LateReleases(
                new WorkerDriver(parts.row, parts.workers), parts.row.store(parts.workers.ticker()), freed -> {});
        private final String secret = parts.row.take();

        @Operation
        public void isPutOff() {
            late.addHeld(List.of(OneRow.JOB), secret, Parts.LASTS, 0);
        }

        @Operation
        public void closes() {
            late.drain(Deadline.NEVER);
        }

        @Validate
        public void promised() {
            promise("it is given back", !parts.row.isHeld());
        }
    }

    /** It is put off while the rounds end. */
    public static class PutOff extends Late {}

    @Test
    void release_that_is_put_off_while_the_rounds_end_is_not_forgotten() {
        Race.tryOrders(PutOff.class);
    }
}
