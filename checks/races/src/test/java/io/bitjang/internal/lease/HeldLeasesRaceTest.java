// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import static io.bitjang.races.Race.promise;

import io.bitjang.internal.sql.OneRow;
import io.bitjang.races.Race;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/** A lease is forgotten while it is renewed, or while its name goes to its successor. */
class HeldLeasesRaceTest {

    /** A renewal comes back. */
    public static class RenewedLate {
        private final HeldLeases held = new HeldLeases();
        private final LeaseHandle lease = new Parts().lease(1);

        public RenewedLate() {
            held.add(lease, 10);
        }

        @Operation
        public void isRenewed() {
            held.renewAt(lease, 20);
        }

        @Operation
        public void isGivenBack() {
            held.remove(lease);
        }

        @Validate
        public void promised() {
            promise("it is forgotten", held.all().isEmpty() && held.of(OneRow.JOB) == null);
        }
    }

    @Test
    void renewal_that_comes_back_late_does_not_keep_a_lease_that_was_given_back() {
        Race.tryOrders(RenewedLate.class);
    }

    /** Its name has a new lease. */
    public static class RemovedLate {
        private final HeldLeases held = new HeldLeases();
        private final LeaseHandle lost = new Parts().lease(1);
        private final LeaseHandle next = new Parts().lease(2);

        public RemovedLate() {
            held.add(lost, 10);
        }

        @Operation
        public void isRemoved() {
            held.remove(lost);
        }

        @Operation
        public void isTaken() {
            held.add(next, 20);
        }

        @Validate
        public void promised() {
            promise("the name is the successor's", held.of(OneRow.JOB) == next);
            promise("which is renewed", held.renewAt(next) != null && held.renewAt(lost) == null);
        }
    }

    @Test
    void lease_that_is_removed_late_does_not_take_its_successor_along() {
        Race.tryOrders(RemovedLate.class);
    }
}
