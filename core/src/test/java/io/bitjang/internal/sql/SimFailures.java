// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.internal.sql.DatabaseException.Meaning;
import java.sql.SQLException;

/** What a simulated server, and the network before it, say to those who ask. */
public final class SimFailures {

    private SimFailures() {}

    /** Another has the row locked, and the server does not wait. */
    static DatabaseException locked() {
        return new DatabaseException(Meaning.BUSY, "locked", new SQLException("locked", "HY000", 1205));
    }

    /** One of the locks of a group is held, which a sum that is too large tells. */
    static DatabaseException outOfRange() {
        return new DatabaseException(Meaning.FAILED, "held", new SQLException("held", "22003", 1690));
    }

    /** What a statement answers that has waited for too long. */
    public static DatabaseException waitedTooLong() {
        return new DatabaseException(Meaning.BUSY, "locked", new SQLException("locked", "55P03"));
    }

    /** Nothing was sent. */
    public static DatabaseException failed() {
        return new DatabaseException(Meaning.FAILED, "no connection", new SQLException("no connection", "08001"));
    }

    /** The answer never came. */
    public static DatabaseException unknown() {
        return DatabaseException.unknown("no answer");
    }
}
