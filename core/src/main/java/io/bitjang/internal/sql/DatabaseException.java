// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.LockName;
import io.bitjang.LockingFailException;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** The failure of a statement; {@link #meaning()} says what it means for the caller. */
public final class DatabaseException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** What a failure means. */
    public enum Meaning {
        /** The row is locked by another transaction right now. Not applied. */
        BUSY,
        /** The database says: repeat. Not applied. */
        REPEAT,
        /** The answer never came. Applied or not: must be resolved. */
        UNKNOWN,
        /** Refused for any other reason, or no connection was to be had. Not applied. */
        FAILED
    }

    private final Meaning meaning;
    private final SQLException sqlException;

    DatabaseException(Meaning meaning, String message, SQLException cause) {
        super(message, cause);
        this.meaning = meaning;
        this.sqlException = cause;
    }

    /** Makes the exception for a row that is locked, as far as can be told. */
    static DatabaseException busy(String why) {
        return new DatabaseException(Meaning.BUSY, why, new SQLException(why));
    }

    /** Makes the exception for an answer that can't be believed. */
    static DatabaseException unknown(String why) {
        return new DatabaseException(Meaning.UNKNOWN, why, new SQLException(why));
    }

    /** Makes the exception for a caller, who is not concerned with statements: what could not be done, and why. */
    public LockingFailException toFailure(@Nullable LockName name, String what) {
        return new LockingFailException(name, name + " " + what + ". " + getMessage(), sqlException);
    }

    /** Tells whether a row is locked right now, as far as can be told. */
    public boolean isLocked() {
        return meaning == Meaning.BUSY || meaning == Meaning.REPEAT;
    }

    /** Returns what the failure means. */
    public Meaning meaning() {
        return meaning;
    }

    /** Returns the database's own exception. */
    public SQLException sqlException() {
        return sqlException;
    }

    /** Tells whether the server has stopped the statement in the middle, because it took too long or someone wanted that. */
    public boolean isCancelled() {
        return SqlErrors.isCancelledByServer(sqlException());
    }

    /** Tells whether a table, a view or a column is missing. */
    public boolean isMissingTable() {
        return SqlErrors.isMissingTable(sqlException());
    }
}
