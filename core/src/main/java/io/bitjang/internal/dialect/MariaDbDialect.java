// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.dialect;

/** MariaDB 10.6 and later. */
final class MariaDbDialect extends MySqlFamily {

    /** For this statement only: a locked row is an error (1205) at once instead of a wait of 50 seconds. */
    private static final String NOWAIT = "SET STATEMENT innodb_lock_wait_timeout = 0 FOR\n";

    @Override
    public String id() {
        return "mariadb";
    }

    @Override
    String collation() {
        return "utf8mb4_nopad_bin";
    }

    /** Assigns from left to right: the answer is taken first, from the row as it was. */
    @Override
    public String write(Change change) {
        return NOWAIT + """
            UPDATE %1$s c SET
                %2$s
              WHERE c.type = :type AND c.id = :id AND %3$s""".formatted(change.table, set(change, "c"), change.condition);
    }

    @Override
    public String writeListed(String table, String condition, String assignments) {
        return NOWAIT + """
            UPDATE %2$s STRAIGHT_JOIN %1$s l ON l.type = r.type AND l.id = r.id
               SET %4$s WHERE l.lock_id = r.lock_id AND %3$s""".formatted(table, listedRows(), condition, assignments);
    }

    @Override
    public String delete(String table, String condition) {
        return NOWAIT + super.delete(table, condition);
    }

    @Override
    public String upsert(String table, String columns) {
        return NOWAIT + """
            INSERT INTO %1$s (type, id, lock_id, owner, fence, reserved, acquired_at, expires_at, note)
            VALUES (:type, :id, :lockId, :owner, %2$s, :reserve, %2$s, %2$s + :micros, :note)
            ON DUPLICATE KEY UPDATE
                reentered = IF(lock_id IS NOT NULL AND expires_at > %2$s AND owner = :again, fence, reentered),
                fence = IF(lock_id IS NULL OR expires_at <= %2$s, GREATEST(fence + reserved + 1, %2$s), fence),
                reserved = IF(lock_id IS NULL OR expires_at <= %2$s, VALUES(reserved), reserved),
                acquired_at = IF(lock_id IS NULL OR expires_at <= %2$s, VALUES(acquired_at), acquired_at),
                taken_from = IF(lock_id IS NOT NULL AND expires_at <= %2$s, owner,
                                IF(lock_id IS NULL, NULL, taken_from)),
                forced = IF(lock_id IS NULL OR expires_at <= %2$s, NULL, forced),
                lock_id = IF(lock_id IS NULL OR expires_at <= %2$s, VALUES(lock_id), lock_id),
                wanted = IF(lock_id = VALUES(lock_id) AND wanted = :me, 0, wanted),
                owner = IF(lock_id = VALUES(lock_id), VALUES(owner), owner),
                note = IF(lock_id = VALUES(lock_id) OR owner = :again, VALUES(note), note),
                expires_at = IF(lock_id = VALUES(lock_id), VALUES(expires_at),
                                IF(owner = :again, GREATEST(expires_at, VALUES(expires_at)), expires_at))
            RETURNING %3$s, 1 AS changed""".formatted(table, NOW, columns);
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
                    .append("(:type%1$d, :id%1$d, :lockId, :owner, %2$s, %2$s, %2$s + :duration, :note)"
                            .formatted(i, NOW));
        }
        return NOWAIT + """
            INSERT INTO %1$s (type, id, lock_id, owner, fence, acquired_at, expires_at, note)
            VALUES %3$s
            ON DUPLICATE KEY UPDATE
                fence = IF(lock_id IS NULL OR expires_at <= %2$s, GREATEST(fence + reserved + 1, %2$s),
                           fence + 9223372036854775807),
                reserved = 0,
                taken_from = IF(lock_id IS NULL, NULL, owner), forced = NULL,
                acquired_at = VALUES(acquired_at), lock_id = VALUES(lock_id), owner = VALUES(owner),
                note = VALUES(note), expires_at = VALUES(expires_at)
            RETURNING fence * 8 + IF(taken_from IS NULL, 0, 4)""".formatted(table, NOW, values);
    }
}
