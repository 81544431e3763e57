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
        long acquiredAt,
        long expiresAt,
        @Nullable String note,
        boolean wanted,
        @Nullable String takenFrom,
        @Nullable String forced,
        long now) {

    private static final String[] COLUMNS = {
        "type", "id", "lock_id", "owner", "fence", "acquired_at", "expires_at", "note", "wanted", "taken_from", "forced"
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
                row.getLong(6),
                row.getLong(7),
                row.getString(8),
                row.getBoolean(9),
                row.getString(10),
                row.getString(11),
                row.getLong(12));
    }

    /** Whether someone held it when it was read. */
    public boolean held() {
        return lockId != null && expiresAt > now;
    }

    /** Whether it carries this random part, held or lapsed. */
    public boolean isOf(String secret) {
        return secret.equals(lockId);
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
                note);
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
