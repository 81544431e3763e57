// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.testkit.contract.OnOwnTables;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/**
 * The core's simulation runs on a table in memory, which is honest: random histories of statements, on several connections, are
 * answered as a server answers them. H2's part is in the core's own tests, and so are the histories: they know the statements, which
 * nobody outside of the core does. They are not a dependency but on the class path, and called by their name.
 */
public abstract class SimTable extends OnOwnTables {

    private static final int HISTORIES = Boolean.getBoolean("bitjang.soak") ? 3_000 : 40;

    @Test
    void random_histories_are_answered_as_a_server_answers_them() throws Throwable {
        Method run =
                Class.forName("io.bitjang.TableHistories").getMethod("run", DataSource.class, String.class, int.class);
        try {
            Object waits = run.invoke(null, database.dataSource(), prefix(), HISTORIES);
            // one that is repeated need not have waited
            assertThat((int) waits)
                    .as("statements that had to wait")
                    .isGreaterThan(System.getProperty("simulation.seed") == null ? HISTORIES / 2 : -1);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
