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

    /** Lists the columns to select for {@link #read}, of the table with this alias. */
    static String columns(String alias, String now) {
        String prefix = alias.isEmpty() ? "" : alias + ".";
        return prefix + String.join(", " + prefix, COLUMNS) + ", " + now + " AS now_micros";
    }

    /** Reads a row of these columns. */
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

    /** Tells whether someone held the lock when the row was read. */
    public boolean held() {
        return lockId != null && expiresAt > now;
    }

    /** Tells whether the row carries this random part, held or lapsed. */
    public boolean isOf(String secret) {
        return secret.equals(lockId);
    }

    /** Tells whether this is the row of the grant with this fence, or of one that passed on to it inside a process. */
    public boolean covers(long grant) {
        return fence <= grant && grant <= fence + reserved;
    }

    /** Returns how long the lock still lasted when the row was read. */
    public Duration remaining() {
        return held() ? Duration.of(expiresAt - now, ChronoUnit.MICROS) : Duration.ZERO;
    }

    /** Makes the public view of the row, without the lock id. */
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

    /** Converts a time of the database, in microseconds. */
    public static Instant instant(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    /** Describes the row without its lock id. */
    @Override
    public String toString() {
        return toData().toString();
    }
}
