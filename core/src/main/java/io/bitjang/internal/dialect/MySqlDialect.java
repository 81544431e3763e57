// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.dialect;

import java.util.Optional;

/**
 * MySQL 8.0.17 and later. Without NO_MERGE it would merge the inner query into the outer update, and lose its SKIP LOCKED: every
 * change of a pinned row would then wait for 50 seconds.
 */
final class MySqlDialect extends MySqlFamily {

    MySqlDialect(boolean readsWait) {
        super(readsWait);
    }

    @Override
    public String id() {
        return "mysql";
    }

    @Override
    String collation() {
        return "utf8mb4_0900_bin";
    }

    /**
     * The row is found and locked, or skipped, inside; an update of two tables assigns in no particular order, so all values come
     * from the row as it was inside. So does the time, which keeps the text short: the driver parses it for every call.
     */
    @Override
    public String write(RowUpdate change) {
        return """
            UPDATE /*+ NO_MERGE(c) */ (
              SELECT c.*, %4$s AS t FROM %1$s c WHERE c.type = :type AND c.id = :id AND %2$s FOR UPDATE SKIP LOCKED) c
              STRAIGHT_JOIN %1$s l ON l.type = c.type AND l.id = c.id SET
                %3$s""".formatted(change.table, change.condition, set(change, "l").replace(NOW, "c.t"), CHECKED_NOW);
    }

    @Override
    public String writeListed(String table, String condition, String assignments) {
        return """
            UPDATE /*+ NO_MERGE(r) */ (
              SELECT l.type, l.id, r.micros FROM %2$s STRAIGHT_JOIN %1$s l FORCE INDEX (PRIMARY) ON l.type = r.type AND l.id = r.id
              WHERE l.lock_id = r.lock_id AND %3$s ORDER BY l.type, l.id FOR UPDATE OF l SKIP LOCKED) r
              STRAIGHT_JOIN %1$s l FORCE INDEX (PRIMARY) ON l.type = r.type AND l.id = r.id SET %4$s""".formatted(table, listedRows(), condition, assignments.replace(NOW, CHECKED_NOW));
    }

    @Override
    public String delete(String table, String condition) {
        return """
            DELETE /*+ NO_MERGE(c) */ l FROM (
              SELECT type, id FROM %1$s WHERE type = :type AND id = :id AND %2$s AND %3$s > 0 FOR UPDATE SKIP LOCKED) c
              STRAIGHT_JOIN %1$s l ON l.type = c.type AND l.id = c.id""".formatted(table, condition, CHECKED_NOW);
    }

    @Override
    public Optional<String> insertGranted(String table) {
        return Optional.of("""
            INSERT IGNORE INTO %1$s (type, id, lock_id, owner, fence, reserved, acquired_at, expires_at, note)
            VALUES (:type, :id, :lockId, :owner, LAST_INSERT_ID(%2$s * 8) DIV 8, :reserve, %2$s, %3$s + :micros, :note)""".formatted(table, NOW, CHECKED_NOW));
    }

    /** With NO_BACKSLASH_ESCAPES the driver sends what it would have to escape as binary, of which MySQL makes no JSON. */
    @Override
    String json() {
        return "CONVERT(:rows USING utf8mb4)";
    }

    @Override
    public String takeAll(String table, int names) {
        return """
            UPDATE /*+ NO_MERGE(c) */ (
              SELECT t.type, t.id, t.lock_id, t.owner, t.wanted, COUNT(*) OVER () AS n, MAX(t.fence + t.reserved) OVER () AS fence,
                     MAX(CASE WHEN t.lock_id IS NOT NULL THEN 4 ELSE 0 END) OVER ()
                     + MAX(CASE WHEN t.wanted > 0 AND t.wanted <> :me THEN 2 ELSE 0 END) OVER () AS flags
                FROM %2$s STRAIGHT_JOIN %1$s t FORCE INDEX (PRIMARY) ON t.type = r.type AND t.id = r.id
               WHERE t.lock_id IS NULL OR t.expires_at <= %3$s ORDER BY t.type, t.id FOR UPDATE OF t SKIP LOCKED) c
              STRAIGHT_JOIN %1$s l FORCE INDEX (PRIMARY) ON l.type = c.type AND l.id = c.id AND c.n = %4$d SET
                l.lock_id = :lockId, l.owner = :owner, l.acquired_at = %3$s, l.expires_at = %5$s + :duration,
                l.fence = LAST_INSERT_ID(GREATEST(c.fence + 1, %3$s) * 8 + c.flags) DIV 8, l.note = :note, l.forced = NULL, l.reserved = 0,
                l.wanted = CASE WHEN c.wanted = :me OR c.wanted < 0 THEN 0 ELSE -c.wanted END,
                l.taken_from = CASE WHEN c.lock_id IS NOT NULL THEN c.owner END""".formatted(table, listedRows(), NOW, names, CHECKED_NOW);
    }
}
