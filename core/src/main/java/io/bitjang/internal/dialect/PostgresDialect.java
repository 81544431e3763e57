// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.dialect;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** PostgreSQL 13 and later. */
final class PostgresDialect implements Dialect {

    private static final String DRIVER = "org.postgresql.PGConnection";

    private static final String NOW = "(extract(epoch FROM pg_catalog.clock_timestamp()) * 1000000)::bigint";

    /**
     * Whether the owner re-enters, by the time at which the statement began, which is one for all columns: the clock itself moves
     * from one to the next.
     */
    private static final String AGAIN =
            "l.owner = :again AND l.lock_id IS NOT NULL AND l.expires_at > excluded.acquired_at";

    @Override
    public String id() {
        return "postgresql";
    }

    @Override
    public List<String> questions() {
        return List.of(
                "SELECT 'version', version()",
                "SELECT 'in_recovery', pg_is_in_recovery()::text UNION ALL"
                        + " SELECT 'read_only', current_setting('transaction_read_only') UNION ALL"
                        + " SELECT 'synchronous_commit', current_setting('synchronous_commit') UNION ALL"
                        + " SELECT 'backend', pg_backend_pid()::text",
                // a lock that the server says it gave, but does not know of, is a stub; null if another is asking just
                // now
                "SELECT 'advisory', CASE WHEN pg_try_advisory_xact_lock(7117113227) THEN (SELECT count(*)::text FROM pg_locks"
                        + " WHERE locktype = 'advisory' AND granted AND pid = pg_backend_pid()) END");
    }

    @Override
    public @Nullable String unfit(Map<String, String> facts) {
        if ("true".equals(facts.get("in_recovery"))) {
            return "this server is a standby. Lead the data source to the primary (targetServerType=primary)";
        }
        if ("0".equals(facts.get("advisory"))) {
            return "this server gives advisory locks that it does not keep, so it is not PostgreSQL itself";
        }
        if ("off".equals(facts.get("synchronous_commit"))) {
            return "synchronous_commit is off, so a server that crashes forgets whom it has granted a lock. Switch it on for"
                    + " the locks' data source (options=-c%20synchronous_commit=on in its address)";
        }
        return "on".equals(facts.get("read_only"))
                ? "the session is read-only (default_transaction_read_only). Give the locks a data source that may write"
                : null;
    }

    /** Warns of a pooler: in transaction mode the next statement may run in a session that does not know what was prepared. */
    @Override
    public @Nullable String notice(Connection connection, Map<String, String> facts) throws SQLException {
        try {
            Class<?> type = Class.forName(
                    DRIVER, true, connection.getMetaData().getClass().getClassLoader());
            Object driver = connection.unwrap(type);
            String own = String.valueOf(type.getMethod("getBackendPID").invoke(driver));
            Object threshold = type.getMethod("getPrepareThreshold").invoke(driver);
            return own.equals(facts.get("backend")) || threshold.equals(0)
                    ? null
                    : "A pooler such as PgBouncer stands before PostgreSQL. In transaction mode statements fail or answer nothing"
                            + " under load, unless the JDBC address has prepareThreshold=0 (or the pooler keeps prepared"
                            + " statements itself: max_prepared_statements of PgBouncer 1.21 and later)";
        } catch (ReflectiveOperationException e) {
            return null;
        }
    }

    @Override
    public String now() {
        return NOW;
    }

    /**
     * FOR UPDATE meets the guard's FOR KEY SHARE, FOR NO KEY UPDATE passes it. A plain UPDATE is FOR NO KEY UPDATE, so a new holder
     * must never be written by one; for the rest it is the fastest.
     */
    @Override
    public String write(RowUpdate change) {
        if (change.lock == RowUpdate.Lock.PATIENT) {
            return """
                UPDATE %1$s c SET
                    %2$s,
                    flags = %3$s
                 WHERE c.type = :type AND c.id = :id AND %4$s AND %5$s""".formatted(change.table, set(change), change.flags, change.condition, boundedWait())
                    + answer(change, "c");
        }
        return """
            WITH c AS MATERIALIZED (
              SELECT * FROM %1$s c WHERE c.type = :type AND c.id = :id AND %2$s FOR %3$s)
            UPDATE %1$s l SET
                %4$s,
                flags = %5$s
              FROM c WHERE l.type = c.type AND l.id = c.id""".formatted(
                                change.table,
                                change.condition,
                                (change.lock == RowUpdate.Lock.EXCLUSIVE ? "UPDATE" : "NO KEY UPDATE")
                                        + (change.lock == RowUpdate.Lock.PINNED ? "" : " SKIP LOCKED"),
                                set(change),
                                change.flags)
                + answer(change, "l");
    }

    /** Writes the answer. CASE is lazy: without a flag it does not notify, which would serialise the whole server's commits. */
    private static String answer(RowUpdate change, String row) {
        String answer = "\nRETURNING %1$s.%2$s * 8 + %1$s.flags".formatted(row, change.answer);
        return change.notifies
                ? answer + ", CASE WHEN " + row + ".flags <> 0 THEN pg_notify(" + channelOf(change.table)
                        + ", char_length(:type) || ':' || :type || :id)::text END"
                : answer;
    }

    /** Names the channel of those who wait for locks in a table by the number of the table, however they spell its name. */
    private static String channelOf(String table) {
        return "'bitjang_' || '" + table + "'::regclass::oid";
    }

    @Override
    public Optional<Notifying> notifying(String table) {
        return Optional.of(new Notifying(DRIVER, "SELECT " + channelOf(table)));
    }

    /**
     * Takes the lock with the strength of FOR UPDATE by a conflict, where assigning the key gives it: a third faster than to find
     * the row, lock it and join it.
     */
    @Override
    public String take(RowUpdate change) {
        return """
            INSERT INTO %1$s AS c (type, id, lock_id, owner, fence, reserved, acquired_at, expires_at, note)
            SELECT :type, :id, :lockId, :owner, %2$s, :reserve, %2$s, %2$s + :micros, :note
             WHERE NOT EXISTS (SELECT 1 FROM %1$s o WHERE o.type = :type AND o.id = :id AND o.lock_id IS NOT NULL
                                  AND o.expires_at > %2$s) AND %3$s
            ON CONFLICT (type, id) DO UPDATE SET
                type = excluded.type,
                %4$s
             WHERE %5$s
            RETURNING c.fence * 8 + %6$s""".formatted(change.table, NOW, boundedWait(), set(change), change.condition, FLAGS_WHEN_TAKEN);
    }

    private static String set(RowUpdate change) {
        return change.assignments((column, value) -> column + " = " + value);
    }

    @Override
    public String writeListed(String table, String condition, String assignments) {
        return """
            WITH c AS MATERIALIZED (
              SELECT l.type, l.id, r.micros FROM %2$s JOIN %1$s l ON l.type = r.type AND l.id = r.id
              WHERE l.lock_id = r.lock_id AND %3$s ORDER BY l.type, l.id FOR NO KEY UPDATE OF l SKIP LOCKED)
            UPDATE %1$s l SET %4$s FROM c r WHERE l.type = r.type AND l.id = r.id""".formatted(table, listedRows(), condition, assignments);
    }

    /** Notifies by a condition on the rows that were found and locked, which is true always. */
    @Override
    public String releaseListed(String table, String condition, String assignments) {
        return writeListed(table, condition, assignments).replace("l.id, r.micros", "l.id, l.wanted")
                + " AND CASE WHEN r.wanted <> 0 THEN pg_notify(" + channelOf(table)
                + ", char_length(r.type) || ':' || r.type || r.id)::text IS NOT NULL ELSE TRUE END";
    }

    @Override
    public String listedRows() {
        return "unnest(:types::varchar[], :ids::varchar[], :lockIds::varchar[], :micros::bigint[])"
                + " AS r(type, id, lock_id, micros)";
    }

    @Override
    public boolean bindsJson() {
        return false;
    }

    /**
     * The filter before the conflict keeps a refused attempt from locking the row (a write); assigning the key gives the lock the
     * strength that meets a guard's pin, and does not change the value, so the update stays in place (HOT).
     */
    @Override
    public Optional<String> upsert(String table, String columns) {
        return Optional.of("""
            WITH taken AS (
              INSERT INTO %1$s AS l (type, id, lock_id, owner, fence, reserved, acquired_at, expires_at, note)
              SELECT :type, :id, :lockId, :owner, %2$s, :reserve, %2$s, %2$s + :micros, :note
               WHERE NOT EXISTS (SELECT 1 FROM %1$s o WHERE o.type = :type AND o.id = :id AND o.lock_id IS NOT NULL
                                    AND o.expires_at > %2$s AND o.owner IS DISTINCT FROM :again)
                 AND %4$s
              ON CONFLICT (type, id) DO UPDATE SET
                type = excluded.type,
                lock_id = CASE WHEN %5$s THEN l.lock_id ELSE excluded.lock_id END,
                fence = CASE WHEN %5$s THEN l.fence ELSE greatest(l.fence + l.reserved + 1, %2$s) END,
                reserved = CASE WHEN %5$s THEN l.reserved ELSE excluded.reserved END,
                acquired_at = CASE WHEN %5$s THEN l.acquired_at ELSE %2$s END,
                expires_at = CASE WHEN %5$s THEN greatest(l.expires_at, %2$s + :micros) ELSE %2$s + :micros END,
                taken_from = CASE WHEN l.lock_id IS NOT NULL AND NOT (%5$s) THEN l.owner END,
                reentered = CASE WHEN %5$s THEN l.fence ELSE l.reentered END,
                owner = excluded.owner, note = excluded.note, forced = NULL,
                wanted = CASE WHEN ABS(l.wanted) = :me THEN 0 ELSE l.wanted END
               WHERE l.lock_id IS NULL OR l.expires_at <= %2$s OR l.owner = :again
              RETURNING l.*)
            SELECT %3$s, 1 AS changed FROM taken l
            UNION ALL
            SELECT %3$s, 0 FROM %1$s l WHERE l.type = :type AND l.id = :id AND NOT EXISTS (SELECT 1 FROM taken)""".formatted(table, NOW, columns, boundedWait(), AGAIN));
    }

    @Override
    public String takeAll(String table, int names) {
        return """
            WITH c AS MATERIALIZED (
              SELECT l.* FROM %2$s JOIN %1$s l ON l.type = r.type AND l.id = r.id
              WHERE l.lock_id IS NULL OR l.expires_at <= %3$s ORDER BY l.type, l.id FOR UPDATE OF l SKIP LOCKED),
            g AS (SELECT count(*) AS n, greatest(max(fence + reserved) + 1, %3$s) AS fence,
                         max(CASE WHEN lock_id IS NOT NULL THEN 4 ELSE 0 END)
                         + max(CASE WHEN wanted > 0 AND wanted <> :me THEN 2 ELSE 0 END) AS flags FROM c)
            UPDATE %1$s l SET lock_id = :lockId, owner = :owner, fence = g.fence, reserved = 0, acquired_at = %3$s,
                expires_at = %3$s + :duration, note = :note, forced = NULL,
                wanted = CASE WHEN c.wanted = :me OR c.wanted < 0 THEN 0 ELSE -c.wanted END,
                taken_from = CASE WHEN c.lock_id IS NOT NULL THEN c.owner END
              FROM c, g WHERE l.type = c.type AND l.id = c.id AND g.n = %4$d
            RETURNING l.fence * 8 + g.flags""".formatted(table, listedRows(), NOW, names);
    }

    @Override
    public String insertFree(String table) {
        return "INSERT INTO " + table + " (type, id, fence, expires_at) SELECT r.type, r.id, 0, " + NOW + " FROM "
                + listedRows() + " ORDER BY r.type, r.id ON CONFLICT (type, id) DO NOTHING";
    }

    @Override
    public String pin() {
        return "FOR KEY SHARE";
    }

    @Override
    public boolean warnsWhenNotReplicated() {
        return true;
    }

    @Override
    public String needNotBeOnDisk() {
        return " AND set_config('synchronous_commit', 'off', true) IS NOT NULL";
    }

    /** Bounds the wait by 150 ms and half of the statement's time: a locked row must be told from a statement that takes long. */
    @Override
    public String boundedWait() {
        return "set_config('lock_timeout', greatest(1, least(150, coalesce(nullif("
                + "extract(epoch FROM current_setting('statement_timeout')::interval) * 500, 0), 150)))::int || 'ms', true)"
                + " IS NOT NULL";
    }

    @Override
    public SessionDialect sessions(String table) {
        return new PostgresSessions();
    }
}
