// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.work;

import static io.bitjang.races.Race.promise;

import io.bitjang.races.Race;
import java.util.ArrayList;
import java.util.List;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/** Code is left to be called while a lease is lost. */
class CallbacksRaceTest {

    /** Code is added while the line begins to move. */
    public static class AddedMeanwhile {
        private final List<Integer> called = new ArrayList<>();
        private final Callbacks callbacks = new Callbacks(Runnable::run);

        @Operation
        public void begins() {
            callbacks.begin();
        }

        @Operation
        public void adds() {
            callbacks.add(() -> called.add(1));
            callbacks.add(() -> called.add(2));
        }

        @Validate
        public void promised() {
            promise("both were called once, in order", called.equals(List.of(1, 2)));
        }
    }

    @Test
    void callbacks_that_are_added_while_the_lease_is_lost_are_called_once_and_in_order() {
        Race.tryOrders(AddedMeanwhile.class);
    }

    /** Two threads add code to a line that moves already. */
    public static class AddedByTwo {
        private final Callbacks callbacks = new Callbacks(Runnable::run);
        private boolean inside;
        private boolean met;
        private int called;

        public AddedByTwo() {
            callbacks.begin();
        }

        private void code() {
            met |= inside;
            inside = true;
            called++;
            inside = false;
        }

        @Operation
        public void adds() {
            callbacks.add(this::code);
        }

        @Operation
        public void addsToo() {
            callbacks.add(this::code);
        }

        @Validate
        public void promised() {
            promise("never two at a time", !met);
            promise("both were called", called == 2);
        }
    }

    @Test
    void callbacks_of_one_holder_are_never_called_two_at_a_time() {
        Race.tryOrders(AddedByTwo.class);
    }
}
