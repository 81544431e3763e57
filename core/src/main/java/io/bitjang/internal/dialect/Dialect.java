// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.dialect;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * What is different from database to database: fragments of SQL, and what the database can do. Immutable.
 *
 * <p>{@code now()} is the database's clock in microseconds since 1970, UTC.
 */
public interface Dialect {

    /** The flags of a lock that was taken, from its row as it is afterwards. */
    String FLAGS_WHEN_TAKEN =
            "CASE WHEN c.taken_from IS NOT NULL THEN 4 ELSE 0 END + CASE WHEN c.wanted <> 0 THEN 2 ELSE 0 END";

    /** A text that a wrong character set, or a careless driver, would change. */
    String SAMPLE = "a\u00e9\u65e5\ud83d\ude00\\'";

    /** The fact whether the driver believes that its connection commits by itself: ON or OFF. */
    String DRIVERS_AUTO_COMMIT = "driver: auto-commit";

    /** The fact which isolation level the driver believes in, as a number of JDBC's. */
    String DRIVERS_ISOLATION = "driver: isolation";

    /** The fact with which settings the driver connects: its address. */
    String DRIVERS_ADDRESS = "driver: address";

    /**
     * Lists the questions that are asked on one connection when an instance is made, in this order; each answers with rows of a
     * name and a value. A question mark stands for {@link #SAMPLE}.
     */
    List<String> questions();

    /** Says why locks can't be trusted here, and what works instead; null if they can, as far as is known by now. */
    @Nullable
    String unfit(Map<String, String> facts);

    /** Says why locks can't be trusted with the settings of this connection's driver; null if they can. */
    default @Nullable String unfit(Connection connection) throws SQLException {
        return null;
    }

    /** Says what works only with care, for the log; null if there is nothing to say. */
    default @Nullable String notice(Connection connection, Map<String, String> facts) throws SQLException {
        return null;
    }

    /** Returns the database's short name, for the scripts' folder and messages. */
    String id();

    /** Says why tables may be gone, and what to do, as a sentence to go on from; empty where that does not happen. */
    default String ifTablesAreGone() {
        return "";
    }

    /** Returns the database's clock, as an expression. */
    String now();

    /**
     * Returns the database's clock, as an expression that fails where the session's clock is not the server's. Each statement
     * that gives, keeps or removes a lock has it.
     */
    default String checkedNow() {
        return now();
    }

    /** Returns the statement that each transaction of our own on connections without auto-commit begins with, if there is one. */
    default Optional<String> beforeTransaction() {
        return Optional.empty();
    }

    /** Writes down a change of one row, which never waits for a locked row where the database can do without. */
    String write(RowUpdate change);

    /** Writes down the change that takes a lock which is most likely free; if it is not, nothing may come of it. */
    default String take(RowUpdate change) {
        return write(change);
    }

    /**
     * Writes down an update of the rows that are listed in {@link #listedRows()} (named {@code r}) and meet the condition; locked
     * rows are skipped, or make it fail as busy. The row is {@code l} in condition and assignments.
     */
    String writeListed(String table, String condition, String assignments);

    /** Writes down the update of {@link #writeListed} that releases; those who wait for one of the locks are notified, if they can be. */
    default String releaseListed(String table, String condition, String assignments) {
        return writeListed(table, condition, assignments);
    }

    /** Returns the listed rows as a relation {@code r} with the columns type, id, lock_id, micros. */
    String listedRows();

    /** Reads columns of the listed rows of the table {@code l}; the listed row is {@code r}. */
    default String readListed(String table, String columns) {
        return "SELECT " + columns + " FROM " + listedRows() + " JOIN " + table
                + " l ON l.type = r.type AND l.id = r.id";
    }

    /** Tells whether {@link #listedRows()} is bound as one JSON text {@code :rows} or as arrays. */
    boolean bindsJson();

    /**
     * Writes down one statement that inserts, takes over, re-enters or refuses; it answers with the columns given and a column
     * {@code changed}: 1 with the row as it is afterwards, 0 with a row that was only read. Where there is none that never waits, a
     * row is read first, and changed or inserted.
     */
    default Optional<String> upsert(String table, String columns) {
        return Optional.empty();
    }

    /**
     * Takes so many locks together: changes all rows or none; or, if it {@link #insertsAll}, inserts or changes all rows, and
     * fails as a whole if one is held. A mark of another process is reported and turned negative, and removed by the next such
     * statement: a release of several rows leaves the marks, so that the next holder knows of them, and they must not stay.
     */
    String takeAll(String table, int names);

    /** Tells whether absent rows are inserted by {@link #takeAll} itself. */
    default boolean insertsAll() {
        return false;
    }

    /** Removes the row of one lock if it meets the condition, without waiting for a locked row where the database can. */
    default String delete(String table, String condition) {
        return "DELETE FROM " + table + " WHERE type = :type AND id = :id AND " + condition + " AND " + boundedWait();
    }

    /** Inserts the absent of the listed rows as free ones. */
    String insertFree(String table);

    /** Inserts one granted row unless there is one; answers with the encoded fence. Needed only where there is no upsert. */
    default Optional<String> insertGranted(String table) {
        return Optional.empty();
    }

    /** Returns what a guard adds to its SELECT, to pin the row until the end of the transaction. */
    String pin();

    /** Returns the lock_id of the row {@code l} that the transaction's snapshot shows, next to a pin that sees the present. */
    default String seenBySnapshot(String table) {
        return "l.lock_id";
    }

    /** Returns the isolation level, if any, at which a transaction has several snapshots, so that what one row shows proves nothing. */
    default OptionalInt isolationOfManySnapshots() {
        return OptionalInt.empty();
    }

    /** Tells whether an update's number comes back as a generated key. */
    default boolean answersByGeneratedKey() {
        return false;
    }

    /** Tells whether a success may carry a warning that takes it back. */
    default boolean warnsWhenNotReplicated() {
        return false;
    }

    /** Returns what is added to the condition of a release, which need not be on disk: losing it means waiting for expiry. */
    default String needNotBeOnDisk() {
        return "";
    }

    /** Returns an expression, always true, that bounds how long this statement waits for a row. */
    default String boundedWait() {
        return "1 = 1";
    }

    /**
     * How this database notifies those who wait.
     *
     * @param driver the driver's class through which notifications are received
     * @param channel the query for the name of the channel on which they come
     */
    record Notifying(String driver, String channel) {}

    /** Returns how this database notifies those who wait for locks in this table, if it can. */
    default Optional<Notifying> notifying(String table) {
        return Optional.empty();
    }

    /** Makes a text one to sort by, so that the order is that of the code points. */
    default String sortable(String text) {
        return text;
    }

    /**
     * Returns how this database has locks that a session holds.
     *
     * @param table the table of session locks, where the database has none of its own
     */
    SessionDialect sessions(String table);

    /** Limits a query to {@code :limit} rows. */
    default String limit() {
        return "LIMIT :limit";
    }
}
