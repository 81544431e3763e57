// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.LockName;
import io.bitjang.admin.AuditEntry;
import io.bitjang.admin.LockCounts;
import io.bitjang.admin.LockFilter;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The operator's statements. Thread-safe. */
public final class AdminSql {

    /** An idle row, as it was read. */
    public record Idle(LockName name, long fence) {}

    private static final int BATCH = 200;

    private final Database database;
    private final LockSql sql;

    AdminSql(Database database, LockSql sql) {
        this.database = database;
        this.sql = sql;
    }

    /** One page. */
    public List<LockRow> list(LockFilter filter) {
        LockName after = filter.after();
        Params params = Params.none()
                .set("type", filter.type())
                .set("idPart", filter.idPart())
                .set("owner", filter.owner())
                .set("afterType", after == null ? null : after.type())
                .set("afterId", after == null ? null : after.id())
                .set("limit", filter.limit());
        return database.run(session -> session.query(sql.list(filter), params, LockRow::read));
    }

    /** Rows by state. */
    public LockCounts counts() {
        return database.run(session -> session.query(
                        sql.counts,
                        Params.none(),
                        row -> new LockCounts(row.getLong(1), row.getLong(2), row.getLong(3))))
                .get(0);
    }

    /**
     * Takes the lock away if its fence is still this one; false if not, or if its row is locked right now.
     *
     * @param unsettled also where it may have passed on to another, inside a process that does not answer
     */
    public boolean force(LockName name, long fence, String by, String reason, boolean audited, boolean unsettled) {
        Sql force = unsettled ? sql.forceUnsettled : sql.force;
        Params params = Params.of(name)
                .set("fence", fence)
                .set("forced", by + ": " + reason)
                .set("by", by)
                .set("reason", reason)
                .set("mark", 0);
        if (!audited) {
            return database.run(session -> session.number(force, params)).isPresent();
        }
        return database.transaction(session -> {
            boolean forced = session.number(force, params).isPresent();
            if (forced) {
                session.update(sql.auditForce, params);
            }
            return forced;
        });
    }

    /** Writes down that a lock was taken over, by one who gave a reason unless it had expired. */
    public void auditTakeOver(LockName name, long fence, @Nullable String reason) {
        Params params = Params.of(name).set("fence", fence).set("reason", reason);
        database.run(session -> session.update(sql.auditTakeOver, params));
    }

    /** The latest entries, the newest first. */
    public List<AuditEntry> auditTrail(int limit) {
        return database.run(session -> session.query(
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

    /** Some rows that have been idle for so long, read without a lock. */
    public List<Idle> idle(long micros) {
        return database.run(session -> session.query(
                sql.idle,
                Params.none().set("idle", micros).set("limit", BATCH),
                row -> new Idle(LockName.of(row.getString(1), row.getString(2)), row.getLong(3))));
    }

    /** Removes such a row if it is still idle. */
    public boolean deleteIdle(Idle idle, long micros) {
        Params params = Params.of(idle.name()).set("fence", idle.fence()).set("idle", micros);
        return database.run(session -> session.update(sql.deleteIdle, params)) > 0;
    }
}
