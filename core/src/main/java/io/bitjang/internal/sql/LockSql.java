// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.admin.LockFilter;
import io.bitjang.internal.dialect.Dialect;
import io.bitjang.internal.dialect.RowUpdate;
import io.bitjang.internal.dialect.RowUpdate.Lock;
import java.util.Optional;

/** Every statement of the engine, each once, with the dialect's fragments filled in at start-up. Immutable. */
final class LockSql {

    private static final String NOBODY_WAITS = "0";
    private static final String SOMEBODY_WAITS = "CASE WHEN c.wanted <> 0 THEN 2 ELSE 0 END";
    private static final String ANOTHER_WAITS = "CASE WHEN c.wanted <> 0 AND ABS(c.wanted) <> :me THEN 2 ELSE 0 END";

    private final Dialect dialect;
    private final String locks;
    private final String now;

    final Optional<Sql> upsert;
    final Optional<Sql> insertGranted;
    final Sql take;
    final Sql reenter;
    final Sql handOver;
    final Sql takeOver;
    final Sql release;
    final Sql releaseWithCaller;
    final Sql releaseAt;
    final Sql renew;
    final Sql extend;
    final Sql leave;
    final Sql settle;
    final Sql force;
    final Sql forceUnsettled;
    final Sql markWanted;
    final Sql renewListed;
    final Sql releaseListed;
    final Sql read;
    final Sql readListed;
    final Sql check;
    final Sql guard;
    final Sql probe;
    final Sql insertFree;
    final Sql counts;
    final Sql idle;
    final Sql deleteIdle;
    final Sql auditTakeOver;
    final Sql auditForce;
    final Sql auditTrail;

    LockSql(Dialect dialect, Tables tables) {
        this.dialect = dialect;
        this.locks = tables.locks();
        this.now = dialect.now();
        upsert = dialect.upsert(locks, columns("")).map(Sql::parse);
        insertGranted = dialect.insertGranted(locks).map(Sql::parse);
        String takenFrom = "CASE WHEN c.lock_id IS NOT NULL THEN c.owner END";
        take = Sql.parse(dialect.take(grant("(c.lock_id IS NULL OR c.expires_at <= " + now + ")", takenFrom)
                .answering("fence", "CASE WHEN c.lock_id IS NOT NULL THEN 4 ELSE 0 END + " + ANOTHER_WAITS)));
        reenter = change(RowUpdate.of(
                        locks, Lock.EXCLUSIVE, "c.owner = :again AND c.lock_id IS NOT NULL AND c.expires_at > " + now)
                .set("reentered", "c.fence")
                .set("fence", "c.fence")
                .set("expires_at", "GREATEST(c.expires_at, " + now + " + :micros)")
                .set("note", ":note")
                .answering("fence", "1 + " + ANOTHER_WAITS));
        handOver = change(grant("c.lock_id = :from", "NULL").answering("fence", ANOTHER_WAITS));
        takeOver = change(grant("c.lock_id IS NOT NULL AND c.fence = :seen AND c.reserved = 0", "c.owner")
                .answering("fence", ANOTHER_WAITS));
        release = change(free("c.lock_id = :lockId" + dialect.needNotBeOnDisk(), Lock.PATIENT)
                .answering("fence", SOMEBODY_WAITS));
        releaseWithCaller = change(free("c.lock_id = :lockId", Lock.PINNED).answering("fence", SOMEBODY_WAITS));
        releaseAt = change(RowUpdate.of(locks, Lock.PATIENT, "c.lock_id = :lockId")
                .set("expires_at", "c.acquired_at + :micros")
                .set("lock_id", ":lockIdOfNobody")
                .answering("fence", NOBODY_WAITS));
        renew = expiry("GREATEST(c.expires_at, " + now + " + :micros)");
        extend = expiry("LEAST(c.expires_at + :micros, " + now + " + 315576000000000)");
        leave = expiry("LEAST(c.expires_at, " + now + " + :micros)");
        settle = change(RowUpdate.of(locks, Lock.PATIENT, "c.lock_id = :lockId")
                .set("fence", ":fence")
                .set("reserved", "0")
                .answering("fence", NOBODY_WAITS));
        force = force("c.fence = :fence AND c.reserved = 0");
        forceUnsettled = force("c.fence <= :fence AND :fence <= c.fence + c.reserved");
        markWanted = change(RowUpdate.of(locks, Lock.PAST_PINS, "c.lock_id IS NOT NULL AND c.wanted = 0")
                .set("wanted", ":me")
                .answering("fence", NOBODY_WAITS));
        renewListed = Sql.parse(dialect.writeListed(
                locks,
                "l.expires_at > " + now,
                target("expires_at") + " = GREATEST(l.expires_at, " + now + " + r.micros)"));
        releaseListed = Sql.parse(dialect.releaseListed(
                locks,
                "l.reentered <> l.fence" + dialect.needNotBeOnDisk(),
                // who wants them stays there: the next holder gets to know
                target("lock_id") + " = NULL, " + target("expires_at") + " = " + now));
        String byName = "SELECT " + columns("l") + " FROM " + locks + " l WHERE l.type = :type AND l.id = :id";
        read = Sql.parse(byName);
        readListed = Sql.parse(dialect.readListed(locks, columns("l")));
        check = Sql.parse(byName + " AND l.lock_id = :lockId AND l.expires_at > " + now);
        guard = Sql.parse("SELECT " + columns("l") + ", " + dialect.seenBySnapshot(locks) + " AS seen FROM " + locks
                + " l WHERE l.type = :type AND l.id = :id AND l.lock_id = :lockId " + dialect.pin());
        probe = change(RowUpdate.of(locks, Lock.PATIENT, "1 = 1")
                .set("probes", "c.probes + 1")
                .answering("probes", NOBODY_WAITS));
        insertFree = Sql.parse(dialect.insertFree(locks));
        counts = Sql.parse("""
            SELECT COALESCE(SUM(CASE WHEN lock_id IS NOT NULL AND expires_at > %2$s THEN 1 ELSE 0 END), 0),
                   COALESCE(SUM(CASE WHEN lock_id IS NOT NULL AND expires_at <= %2$s THEN 1 ELSE 0 END), 0),
                   COALESCE(SUM(CASE WHEN lock_id IS NULL THEN 1 ELSE 0 END), 0)
              FROM %1$s""".formatted(locks, now));
        String idleSince =
                "(lock_id IS NULL OR expires_at <= %1$s) AND expires_at < %1$s - :idle AND fence + reserved < %1$s"
                        .formatted(now);
        idle = Sql.parse("SELECT type, id, fence FROM " + locks + " WHERE " + idleSince + " " + dialect.limit());
        deleteIdle = Sql.parse(dialect.delete(locks, "fence = :fence AND " + idleSince));
        String audit =
                "INSERT INTO " + tables.audit() + " (at_micros, kind, type, id, fence, from_owner, by_owner, reason) ";
        auditTakeOver =
                Sql.parse(audit + "SELECT " + now + ", 'TAKEN_OVER', type, id, fence, taken_from, owner, :reason FROM "
                        + locks + " WHERE type = :type AND id = :id AND fence = :fence AND taken_from <> owner");
        auditForce = Sql.parse(
                audit + "SELECT " + now + ", 'FORCE_RELEASED', type, id, :fence, owner, :by, :reason FROM " + locks
                        + " WHERE type = :type AND id = :id AND fence <= :fence AND :fence <= fence + reserved");
        auditTrail = Sql.parse("SELECT at_micros, kind, type, id, fence, from_owner, by_owner, reason FROM "
                + tables.audit() + " ORDER BY seq DESC " + dialect.limit());
    }

    Sql takeAll(int names) {
        return Sql.parse(dialect.takeAll(locks, names));
    }

    /** Brings the fences of a group, if they differ, to the largest of them. */
    Sql raiseFences() {
        return Sql.parse(dialect.writeListed(locks, "l.fence < :fence", target("fence") + " = :fence"));
    }

    /** Makes the statement for a page of the table. The filter chooses among fixed conditions; its values are bound. */
    Sql list(LockFilter filter) {
        String type = dialect.sortable("l.type");
        String id = dialect.sortable("l.id");
        StringBuilder sql = new StringBuilder("SELECT " + columns("l") + " FROM " + locks + " l WHERE ");
        sql.append(
                switch (filter.state()) {
                    case ANY -> "1 = 1";
                    case HELD -> "l.lock_id IS NOT NULL AND l.expires_at > " + now;
                    case EXPIRED -> "l.lock_id IS NOT NULL AND l.expires_at <= " + now;
                    case FREE -> "l.lock_id IS NULL";
                });
        sql.append(filter.type() == null ? "" : " AND l.type = :type");
        sql.append(filter.owner() == null ? "" : " AND l.owner = :owner");
        sql.append(filter.idPart() == null ? "" : " AND POSITION(:idPart IN l.id) > 0");
        sql.append(
                filter.after() == null
                        ? ""
                        : " AND (" + type + " > " + dialect.sortable(":afterType") + " OR (l.type = :afterType AND "
                                + id + " > " + dialect.sortable(":afterId") + "))");
        return Sql.parse(sql.append(" ORDER BY " + type + ", " + id + " ")
                .append(dialect.limit())
                .toString());
    }

    /** Gives the lock to someone new. */
    private RowUpdate.Builder grant(String condition, String takenFrom) {
        return RowUpdate.of(locks, Lock.EXCLUSIVE, condition)
                .set("fence", "GREATEST(c.fence + c.reserved + 1, " + now + ")")
                .set("reserved", ":reserve")
                .set("acquired_at", now)
                .set("expires_at", now + " + :micros")
                .set("note", ":note")
                .set("wanted", "CASE WHEN ABS(c.wanted) = :me THEN 0 ELSE c.wanted END")
                .set("forced", "NULL")
                .set("taken_from", takenFrom)
                .set("lock_id", ":lockId")
                .set("owner", ":owner");
    }

    private RowUpdate.Builder free(String condition, Lock lock) {
        return RowUpdate.of(locks, lock, condition)
                .notifying()
                .set("lock_id", "NULL")
                .set("expires_at", now)
                .set("taken_from", "NULL")
                .set("wanted", ":mark");
    }

    private Sql force(String condition) {
        return change(free("c.lock_id IS NOT NULL AND " + condition, Lock.EXCLUSIVE)
                .set("forced", ":forced")
                .answering("fence", SOMEBODY_WAITS));
    }

    private Sql expiry(String value) {
        return change(RowUpdate.of(locks, Lock.PATIENT, "c.lock_id = :lockId AND c.expires_at > " + now)
                .set("expires_at", value)
                .answering("expires_at", NOBODY_WAITS));
    }

    private Sql change(RowUpdate change) {
        return Sql.parse(dialect.write(change));
    }

    /** Names a column to assign to: bare on PostgreSQL and H2; an update of two tables on MySQL and MariaDB needs the alias. */
    private String target(String column) {
        return dialect.bindsJson() ? "l." + column : column;
    }

    private String columns(String alias) {
        return LockRow.columns(alias, dialect.checkedNow());
    }
}
