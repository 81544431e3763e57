// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.internal.sql.DatabaseException.Meaning;
import java.sql.SQLException;

/** What a simulated network does to those who ask. */
public final class SimFailures {

    private SimFailures() {}

    /** Nothing was sent. */
    public static DatabaseException failed() {
        return new DatabaseException(Meaning.FAILED, "no connection", new SQLException("no connection", "08001"));
    }

    /** The answer never came. */
    public static DatabaseException unknown() {
        return DatabaseException.unknown("no answer");
    }
}
