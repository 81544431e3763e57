// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.dialect;

import java.util.Optional;

/** MariaDB 10.6 and later. */
final class MariaDbDialect extends MySqlFamily {

    /**
     * The settings of one statement only: a locked row is an error (1205) at once instead of a wait of 50 seconds, and rows may
     * be found by a join. Not sql_mode: the driver would take that of the statement for the session's, and escape the next text
     * by it.
     */
    private static final String NOWAIT = "SET STATEMENT innodb_lock_wait_timeout = 0, sql_safe_updates = 0 FOR\n";

    private static final String CHECK = " AND " + CHECKED_NOW + " > 0";

    MariaDbDialect(boolean readsWait) {
        super(readsWait);
    }

    @Override
    public String id() {
        return "mariadb";
    }

    @Override
    String collation() {
        return "utf8mb4_nopad_bin";
    }

    /** MariaDB assigns from left to right: the answer is taken first, from the row as it was. */
    @Override
    public String write(RowUpdate change) {
        return NOWAIT + """
            UPDATE %1$s c SET
                %2$s
              WHERE c.type = :type AND c.id = :id AND %3$s%4$s""".formatted(change.table, set(change, "c"), change.condition, change.reads(NOW) ? CHECK : "");
    }

    @Override
    public String writeListed(String table, String condition, String assignments) {
        return NOWAIT + """
            UPDATE %2$s STRAIGHT_JOIN %1$s l FORCE INDEX (PRIMARY) ON l.type = r.type AND l.id = r.id
               SET %4$s WHERE l.lock_id = r.lock_id AND %3$s""".formatted(table, listedRows(), condition, assignments.replace(NOW, CHECKED_NOW));
    }

    @Override
    public String delete(String table, String condition) {
        return NOWAIT + super.delete(table, condition + CHECK);
    }

    /**
     * The upsert is right whether assignments run from left to right or all at once (SIMULTANEOUS_ASSIGNMENT, ORACLE): each reads
     * only what is assigned after it, but for the last, which sees the lock id as it was or as it is then.
     */
    @Override
    public Optional<String> upsert(String table, String columns) {
        return Optional.of(NOWAIT + """
            INSERT INTO %1$s (type, id, lock_id, owner, fence, reserved, acquired_at, expires_at, note)
            VALUES (:type, :id, :lockId, :owner, %2$s, :reserve, %2$s, %4$s + :micros, :note)
            ON DUPLICATE KEY UPDATE
                reentered = IF(lock_id IS NOT NULL AND expires_at > %2$s AND owner = :again, fence, reentered),
                fence = IF(lock_id IS NULL OR expires_at <= %2$s, GREATEST(fence + reserved + 1, %2$s), fence),
                reserved = IF(lock_id IS NULL OR expires_at <= %2$s, VALUES(reserved), reserved),
                acquired_at = IF(lock_id IS NULL OR expires_at <= %2$s, VALUES(acquired_at), acquired_at),
                taken_from = IF(lock_id IS NOT NULL AND expires_at <= %2$s, owner,
                                IF(lock_id IS NULL, NULL, taken_from)),
                forced = IF(lock_id IS NULL OR expires_at <= %2$s, NULL, forced),
                wanted = IF((lock_id IS NULL OR expires_at <= %2$s) AND ABS(wanted) = :me, 0, wanted),
                note = IF(lock_id IS NULL OR expires_at <= %2$s OR owner = :again, VALUES(note), note),
                owner = IF(lock_id IS NULL OR expires_at <= %2$s, VALUES(owner), owner),
                lock_id = IF(lock_id IS NULL OR expires_at <= %2$s, VALUES(lock_id), lock_id),
                expires_at = IF(lock_id IS NULL OR lock_id = VALUES(lock_id) OR expires_at <= %2$s, VALUES(expires_at),
                                IF(owner = :again, GREATEST(expires_at, VALUES(expires_at)), expires_at))
            RETURNING %3$s, 1 AS changed""".formatted(table, NOW, columns, CHECKED_NOW));
    }

    @Override
    public boolean insertsAll() {
        return true;
    }

    /** A held row raises 1690 (out of range), which undoes the whole statement. The rows are given in order. */
    @Override
    public String takeAll(String table, int names) {
        StringBuilder values = new StringBuilder();
        for (int i = 0; i < names; i++) {
            values.append(i == 0 ? "" : ",\n    ")
                    .append("(:type%1$d, :id%1$d, :lockId, :owner, %2$s, %2$s, %3$s + :duration, :note)"
                            .formatted(i, NOW, CHECKED_NOW));
        }
        return NOWAIT + """
            INSERT INTO %1$s (type, id, lock_id, owner, fence, acquired_at, expires_at, note)
            VALUES %3$s
            ON DUPLICATE KEY UPDATE
                fence = IF(lock_id IS NULL OR expires_at <= %2$s, GREATEST(fence + reserved + 1, %2$s),
                           fence + 9223372036854775807),
                reserved = 0, wanted = IF(wanted = :me OR wanted < 0, 0, -wanted),
                taken_from = IF(lock_id IS NULL, NULL, owner), forced = NULL,
                acquired_at = VALUES(acquired_at), lock_id = VALUES(lock_id), owner = VALUES(owner),
                note = VALUES(note), expires_at = VALUES(expires_at)
            RETURNING fence * 8 + IF(taken_from IS NULL, 0, 4) + IF(wanted = 0, 0, 2)""".formatted(table, NOW, values);
    }
}
