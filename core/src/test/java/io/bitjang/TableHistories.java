// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import io.bitjang.internal.sql.HonestTable;
import javax.sql.DataSource;

/**
 * What {@code checks/contracts} calls by its name, on the servers, to show that the simulation's table is honest. That module may
 * not use the core's inner packages.
 */
public final class TableHistories {

    private TableHistories() {}

    /**
     * Lives through so many random histories on a server and on the simulated table.
     *
     * @return how many statements had to wait
     * @throws AssertionError if a statement is not answered alike
     */
    public static int run(DataSource source, String prefix, int histories) throws Exception {
        return new HonestTable(source, prefix).livesThrough(histories);
    }
}
