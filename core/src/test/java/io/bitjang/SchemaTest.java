// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Nodes that start on a database without tables. */
class SchemaTest extends OnH2 {

    /** Or else H2 may note a view twice with its table, which then can't be dropped. */
    @Test
    void nodes_of_one_process_create_the_tables_one_after_the_other() throws Exception {
        Gate creating = gate();
        AtomicInteger views = new AtomicInteger();
        seen.before(sql -> {
            if (sql.contains("VIEW")) {
                views.incrementAndGet();
                creating.pass();
            }
        });
        Job<Locks> first = start(() -> builder().tablePrefix("new_").build());
        creating.untilReached();

        Job<Locks> second = start(() -> builder().tablePrefix("new_").build()).untilItIsIn("SchemaSetup.takeTurn");
        creating.close();

        try (Locks one = first.result();
                Locks two = second.result();
                Lease lease = one.lease("job").tryAcquire().orElseThrow()) {
            assertThat(two.lease("job").tryAcquire()).isEmpty();
            assertThat(lease.isHeld()).isTrue();
        }
        assertThat(views).hasValue(1);
        execute("DROP VIEW new_locks_view");
        execute("DROP TABLE new_locks");
    }
}
