// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.LockName;
import io.bitjang.admin.AuditEntry;
import io.bitjang.admin.LockCounts;
import io.bitjang.admin.LockFilter;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** Plans what an operator does. Thread-safe. */
public final class AdminSql {

    /** An idle row, as it was read. */
    public record Idle(LockName name, long fence) {}

    private static final int BATCH = 200;

    private final LockSql sql;

    AdminSql(LockSql sql) {
        this.sql = sql;
    }

    /** Reads one page of the locks. */
    public Plan<List<LockRow>> list(LockFilter filter) {
        LockName after = filter.after();
        Params params = Params.none()
                .set("type", filter.type())
                .set("idPart", filter.idPart())
                .set("owner", filter.owner())
                .set("afterType", after == null ? null : after.type())
                .set("afterId", after == null ? null : after.id())
                .set("limit", filter.limit());
        return Plan.ask(Ask.rows(sql.list(filter), params, LockRow::read));
    }

    /** Counts the rows by state. */
    public Plan<LockCounts> counts() {
        return Plan.ask(Ask.rows(
                        sql.counts,
                        Params.none(),
                        row -> new LockCounts(row.getLong(1), row.getLong(2), row.getLong(3))))
                .map(rows -> rows.get(0));
    }

    /**
     * Takes the lock away if its fence is still this one; false if not, or if its row is locked right now.
     *
     * @param unsettled whether to take away even a lock that may have passed on to another, inside a process that does not answer
     */
    public Plan<Boolean> force(
            LockName name, long fence, String by, String reason, boolean audited, boolean unsettled) {
        Sql force = unsettled ? sql.forceUnsettled : sql.force;
        Params params = Params.of(name)
                .set("fence", fence)
                .set("forced", by + ": " + reason)
                .set("by", by)
                .set("reason", reason)
                .set("mark", 0);
        Plan<Boolean> forced = Plan.ask(Ask.number(force, params)).map(OptionalLong::isPresent);
        return audited
                ? forced.then(done -> done
                                ? Plan.ask(Ask.count(sql.auditForce, params)).map(written -> true)
                                : Plan.of(false))
                        .inOneTransaction()
                : forced;
    }

    /** Writes down that a lock was taken over, by one who gave a reason unless it had expired. */
    public Plan<Integer> auditTakeOver(LockName name, long fence, @Nullable String reason) {
        Params params = Params.of(name).set("fence", fence).set("reason", reason);
        return Plan.ask(Ask.count(sql.auditTakeOver, params));
    }

    /** Reads the latest entries of the audit trail, the newest first. */
    public Plan<List<AuditEntry>> auditTrail(int limit) {
        return Plan.ask(Ask.rows(
                sql.auditTrail,
                Params.none().set("limit", limit),
                row -> new AuditEntry(
                        LockRow.instant(row.getLong(1)),
                        AuditEntry.Kind.valueOf(row.getString(2)),
                        LockName.of(row.getString(3), row.getString(4)),
                        row.getLong(5),
                        row.getString(6),
                        row.getString(7),
                        row.getString(8))));
    }

    /** Reads some rows that have been idle for so many microseconds, without a lock. */
    public Plan<List<Idle>> idle(long micros) {
        return Plan.ask(Ask.rows(
                sql.idle,
                Params.none().set("idle", micros).set("limit", BATCH),
                row -> new Idle(LockName.of(row.getString(1), row.getString(2)), row.getLong(3))));
    }

    /** Removes an idle row if it is still idle. */
    public Plan<Boolean> deleteIdle(Idle idle, long micros) {
        Params params = Params.of(idle.name()).set("fence", idle.fence()).set("idle", micros);
        return Plan.ask(Ask.count(sql.deleteIdle, params)).map(deleted -> deleted > 0);
    }
}
