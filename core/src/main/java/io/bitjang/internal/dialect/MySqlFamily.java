// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.dialect;

/** What MySQL and MariaDB have in common. */
abstract class MySqlFamily implements Dialect {

    /** Not UNIX_TIMESTAMP(NOW(6)): that goes through the session's time zone, and is wrong for an hour each autumn. */
    static final String NOW = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";

    /** Compares exactly: case, accents and trailing blanks count. */
    abstract String collation();

    @Override
    public String now() {
        return NOW;
    }

    /** The assignments, of which one is the answer. */
    static String set(Change change, String row) {
        return change.assignments((column, value) -> row + "." + column + " = "
                + (column.equals(change.answer) ? "LAST_INSERT_ID(" + change.encode(value) + ") DIV 8" : value));
    }

    @Override
    public String listedRows() {
        return """
            JSON_TABLE(:rows, '$[*]' COLUMNS (
                type VARCHAR(255) CHARACTER SET utf8mb4 COLLATE %1$s PATH '$[0]',
                id VARCHAR(255) CHARACTER SET utf8mb4 COLLATE %1$s PATH '$[1]',
                lock_id VARCHAR(32) CHARACTER SET utf8mb4 COLLATE %1$s PATH '$[2]',
                micros BIGINT PATH '$[3]')) AS r""".formatted(collation());
    }

    @Override
    public String readListed(String table, String columns) {
        // the order is forced: the listed rows first, each then found by primary key
        return "SELECT " + columns + " FROM " + listedRows() + " STRAIGHT_JOIN " + table
                + " l ON l.type = r.type AND l.id = r.id";
    }

    @Override
    public boolean bindsJson() {
        return true;
    }

    @Override
    public String insertFree(String table) {
        return "INSERT IGNORE INTO " + table + " (type, id, fence, expires_at) SELECT r.type, r.id, 0, " + NOW
                + " FROM " + listedRows() + " ORDER BY r.type, r.id";
    }

    /** A share lock followed by the release would be an upgrade, and two of them a deadlock. */
    @Override
    public String pin() {
        return "FOR UPDATE";
    }

    /** A locking read sees the present, a plain one next to it the transaction's snapshot. */
    @Override
    public String seenBySnapshot(String table) {
        return "(SELECT s.lock_id FROM " + table + " s WHERE s.type = :type AND s.id = :id)";
    }

    @Override
    public boolean answersByGeneratedKey() {
        return true;
    }

    @Override
    public SessionDialect sessions(String table) {
        return new MySqlSessions();
    }
}
