// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.dialect;

import java.sql.Connection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** H2 2.x, in any of its modes. Its updates have no SKIP LOCKED of their own, but honour that of a query inside them. */
final class H2Dialect implements Dialect {

    private static final String NOW = "CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP(6)) * 1000000 AS BIGINT)";

    @Override
    public String id() {
        return "h2";
    }

    @Override
    public List<String> questions() {
        return List.of();
    }

    @Override
    public @Nullable String unfit(Map<String, String> facts) {
        return String.valueOf(Connection.TRANSACTION_READ_UNCOMMITTED).equals(facts.get(DRIVERS_ISOLATION))
                ? "the pool's isolation level is READ UNCOMMITTED, at which H2 may refuse a free lock and leave it taken."
                        + " Use READ COMMITTED"
                : null;
    }

    @Override
    public String ifTablesAreGone() {
        return "If this database is in memory, it ends with its last connection: add ;DB_CLOSE_DELAY=-1 to its URL. ";
    }

    @Override
    public String now() {
        return NOW;
    }

    /** The flags are of the row as it was; only a change of the answer itself needs the row as it is then. */
    @Override
    public String write(RowUpdate change) {
        return write(change, change.encode("c." + change.answer));
    }

    @Override
    public String take(RowUpdate change) {
        return write(change, "c.fence * 8 + " + FLAGS_WHEN_TAKEN);
    }

    private static String write(RowUpdate change, String answer) {
        return """
            SELECT %4$s FROM %5$s TABLE (
              UPDATE %1$s c SET
                %2$s
              WHERE c.type = :type AND c.id = :id AND (c.type, c.id) IN (
                SELECT c.type, c.id FROM %1$s c WHERE c.type = :type AND c.id = :id AND %3$s FOR UPDATE SKIP LOCKED)) c""".formatted(
                        change.table,
                        change.assignments((column, value) -> column + " = " + value),
                        change.condition,
                        answer,
                        change.keepsAnswer() ? "OLD" : "FINAL");
    }

    @Override
    public String writeListed(String table, String condition, String assignments) {
        return """
            MERGE INTO %1$s l USING (
              SELECT l.type, l.id, r.micros FROM %2$s JOIN %1$s l ON l.type = r.type AND l.id = r.id
              WHERE l.lock_id = r.lock_id AND %3$s ORDER BY l.type, l.id FOR UPDATE SKIP LOCKED) r
               ON l.type = r.type AND l.id = r.id
            WHEN MATCHED THEN UPDATE SET %4$s""".formatted(table, listedRows(), condition, assignments);
    }

    @Override
    public String listedRows() {
        return "UNNEST(CAST(:types AS VARCHAR ARRAY), CAST(:ids AS VARCHAR ARRAY), CAST(:lockIds AS VARCHAR ARRAY),"
                + " CAST(:micros AS BIGINT ARRAY)) AS r(type, id, lock_id, micros)";
    }

    @Override
    public boolean bindsJson() {
        return false;
    }

    @Override
    public String delete(String table, String condition) {
        return """
            DELETE FROM %1$s WHERE type = :type AND id = :id AND (type, id) IN (
              SELECT type, id FROM %1$s WHERE type = :type AND id = :id AND %2$s FOR UPDATE SKIP LOCKED)""".formatted(table, condition);
    }

    /**
     * A held lock, or a locked row, leaves nothing to merge, so a refused attempt does not wait; the second part then tells the
     * holder. It may have the row locked while it runs: a renewal or a release that meets it skips the row, and tries again.
     */
    @Override
    public Optional<String> upsert(String table, String columns) {
        return Optional.of("""
            SELECT %3$s, 1 AS changed FROM FINAL TABLE (
              MERGE INTO %1$s l USING (
                SELECT * FROM (VALUES (CAST(:type AS VARCHAR), CAST(:id AS VARCHAR), CAST(:lockId AS VARCHAR),
                    CAST(:owner AS VARCHAR), CAST(:micros AS BIGINT), CAST(:reserve AS INT), CAST(:note AS VARCHAR), CAST(:again AS VARCHAR)))
                  v(type, id, lock_id, owner, micros, reserve, note, again)
                WHERE NOT EXISTS (SELECT 1 FROM %1$s o WHERE o.type = :type AND o.id = :id AND o.lock_id IS NOT NULL
                          AND o.expires_at > %2$s AND o.owner IS DISTINCT FROM CAST(:again AS VARCHAR))
                  AND (NOT EXISTS (SELECT 1 FROM %1$s o WHERE o.type = :type AND o.id = :id)
                       OR EXISTS (SELECT 1 FROM %1$s o WHERE o.type = :type AND o.id = :id FOR UPDATE SKIP LOCKED))) v
              ON l.type = v.type AND l.id = v.id
              WHEN MATCHED AND (l.lock_id IS NULL OR l.expires_at <= %2$s) THEN UPDATE SET
                lock_id = v.lock_id, owner = v.owner, fence = GREATEST(l.fence + l.reserved + 1, %2$s), reserved = v.reserve, acquired_at = %2$s,
                expires_at = %2$s + v.micros, note = v.note, forced = NULL,
                wanted = CASE WHEN ABS(l.wanted) = :me THEN 0 ELSE l.wanted END,
                taken_from = CASE WHEN l.lock_id IS NOT NULL THEN l.owner END
              WHEN MATCHED AND l.owner = v.again THEN UPDATE SET
                expires_at = GREATEST(l.expires_at, %2$s + v.micros), reentered = l.fence, note = v.note
              WHEN NOT MATCHED THEN INSERT (type, id, lock_id, owner, fence, reserved, acquired_at, expires_at, note)
                VALUES (v.type, v.id, v.lock_id, v.owner, %2$s, v.reserve, %2$s, %2$s + v.micros, v.note)) l
            UNION ALL
            SELECT %3$s, 0 FROM %1$s l WHERE l.type = :type AND l.id = :id""".formatted(table, NOW, columns));
    }

    @Override
    public String takeAll(String table, int names) {
        return """
            SELECT MAX(l.fence) * 8 + MAX(CASE WHEN l.taken_from IS NOT NULL THEN 4 ELSE 0 END)
                 + MAX(CASE WHEN l.wanted <> 0 THEN 2 ELSE 0 END) FROM FINAL TABLE (
              MERGE INTO %1$s l USING (
                SELECT c.type, c.id, COUNT(*) OVER () AS n, MAX(c.fence) OVER () AS fence FROM (
                  SELECT l.type, l.id, l.fence + l.reserved AS fence FROM %2$s JOIN %1$s l ON l.type = r.type AND l.id = r.id
                  WHERE l.lock_id IS NULL OR l.expires_at <= %3$s ORDER BY l.type, l.id FOR UPDATE SKIP LOCKED) c) g
              ON l.type = g.type AND l.id = g.id AND g.n = %4$d
              WHEN MATCHED THEN UPDATE SET
                lock_id = :lockId, owner = :owner, fence = GREATEST(g.fence + 1, %3$s), reserved = 0, acquired_at = %3$s,
                expires_at = %3$s + :duration, note = :note, forced = NULL,
                wanted = CASE WHEN l.wanted = :me OR l.wanted < 0 THEN 0 ELSE -l.wanted END,
                taken_from = CASE WHEN l.lock_id IS NOT NULL THEN l.owner END) l
            HAVING COUNT(*) > 0""".formatted(table, listedRows(), NOW, names);
    }

    @Override
    public String insertFree(String table) {
        return """
            MERGE INTO %1$s l USING (SELECT * FROM %2$s) r ON l.type = r.type AND l.id = r.id
            WHEN NOT MATCHED THEN INSERT (type, id, fence, expires_at) VALUES (r.type, r.id, 0, %3$s)""".formatted(table, listedRows(), NOW);
    }

    /** H2 sorts by UTF-16 units otherwise. */
    @Override
    public String sortable(String text) {
        return "STRINGTOUTF8(" + text + ")";
    }

    /** H2's REPEATABLE READ takes a snapshot of each table when it is first touched. */
    @Override
    public OptionalInt isolationOfManySnapshots() {
        return OptionalInt.of(Connection.TRANSACTION_REPEATABLE_READ);
    }

    /** Some of H2's modes know no LIMIT. */
    @Override
    public String limit() {
        return "FETCH FIRST :limit ROWS ONLY";
    }

    @Override
    public String pin() {
        return "FOR UPDATE";
    }

    @Override
    public SessionDialect sessions(String table) {
        return new H2Sessions(table);
    }
}
