// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.LockData;
import io.bitjang.LockName;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/** A row of the table of locks as it was read, with the database's time of reading. Times in microseconds. */
public record LockRow(
        LockName name,
        @Nullable String lockId,
        @Nullable String owner,
        long fence,
        int reserved,
        long acquiredAt,
        long expiresAt,
        @Nullable String note,
        boolean wanted,
        @Nullable String takenFrom,
        @Nullable String forced,
        long now) {

    private static final String[] COLUMNS = {
        "type",
        "id",
        "lock_id",
        "owner",
        "fence",
        "reserved",
        "acquired_at",
        "expires_at",
        "note",
        "wanted",
        "taken_from",
        "forced"
    };

    /** The columns to select for {@link #read}, of the table with this alias. */
    static String columns(String alias, String now) {
        String prefix = alias.isEmpty() ? "" : alias + ".";
        return prefix + String.join(", " + prefix, COLUMNS) + ", " + now + " AS now_micros";
    }

    /** Reads such a row. */
    static LockRow read(ResultSet row) throws SQLException {
        return new LockRow(
                LockName.of(row.getString(1), row.getString(2)),
                row.getString(3),
                row.getString(4),
                row.getLong(5),
                row.getInt(6),
                row.getLong(7),
                row.getLong(8),
                row.getString(9),
                row.getInt(10) != 0,
                row.getString(11),
                row.getString(12),
                row.getLong(13));
    }

    /** Whether someone held it when it was read. */
    public boolean held() {
        return lockId != null && expiresAt > now;
    }

    /** Whether it carries this random part, held or lapsed. */
    public boolean isOf(String secret) {
        return secret.equals(lockId);
    }

    /** Whether it is the row of the grant with this fence, or of one from whose holder it passed on to that inside a process. */
    public boolean covers(long grant) {
        return fence <= grant && grant <= fence + reserved;
    }

    /** Who took it away from the holder with this key, and why; null if nobody did, or someone had it since. */
    public @Nullable String takenAwayFrom(GrantKey key) {
        return lockId == null && covers(key.fence()) ? forced : null;
    }

    /** The fence times 8, with the flag of a take-over, as a statement's number has them. */
    long encoded() {
        return fence << 3 | (takenFrom == null ? 0 : Answer.TAKEN_OVER);
    }

    /** What was left of it. */
    public Duration remaining() {
        return held() ? Duration.of(expiresAt - now, ChronoUnit.MICROS) : Duration.ZERO;
    }

    /** For the public, without the lock id. */
    public LockData toData() {
        return new LockData(
                name,
                held(),
                owner,
                fence,
                acquiredAt == 0 ? null : instant(acquiredAt),
                lockId == null ? null : instant(expiresAt),
                remaining(),
                note,
                wanted);
    }

    /** A time of the database's. */
    public static Instant instant(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    /** The row without its lock id. */
    @Override
    public String toString() {
        return toData().toString();
    }
}
