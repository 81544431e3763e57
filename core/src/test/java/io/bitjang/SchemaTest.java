// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

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

    @Test
    void tables_that_are_created_but_not_seen_are_tried_for_a_while_and_then_refused() {
        AtomicInteger looks = new AtomicInteger();
        seen.before(sql -> {
            if (sql.startsWith("SELECT COALESCE(MAX(version)")) {
                looks.incrementAndGet();
                throw new SQLException("Table not found, as on a replica", "42S02", 42102);
            }
        });

        assertThatThrownBy(() -> builder().tablePrefix("new_").build())
                .isInstanceOf(LockingFailException.class)
                .hasMessageContaining("replica");
        assertThat(looks.get()).isLessThan(30);
    }

    @ParameterizedTest
    @EnumSource(names = {"CREATE", "VALIDATE"})
    void database_in_memory_that_ends_with_each_connection_is_told_how_to_stay(Locks.Schema schema) {
        ObservedSource forgetful = new ObservedSource("jdbc:h2:mem:forgetful");

        assertThatThrownBy(() ->
                        Locks.builder(forgetful.dataSource()).schema(schema).build())
                .isInstanceOf(LockingFailException.class)
                .hasMessageContaining("in memory, it ends with its last connection: add ;DB_CLOSE_DELAY=-1 to its URL");
    }
}
