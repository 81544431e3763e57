// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.OnH2;
import org.junit.jupiter.api.Test;

/** The simulated table is honest: on H2 here, on the servers in {@code checks/contracts}. */
class SimTableTest extends OnH2 {

    @Test
    void random_histories_are_answered_as_a_server_answers_them() throws Exception {
        int waits = new HonestTable(seen.dataSource(), "bitjang_").livesThrough(40);

        assertThat(waits).as("statements that had to wait").isGreaterThan(15);
    }
}
