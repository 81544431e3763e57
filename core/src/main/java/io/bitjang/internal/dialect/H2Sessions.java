// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.dialect;

import java.util.HexFormat;
import java.util.Optional;

/**
 * Session locks on H2, which has none of its own: each is a row that a transaction of its own has locked, on a connection of its
 * own; the row is removed by the one who gives it back.
 */
final class H2Sessions implements SessionDialect {

    private final String table;

    H2Sessions(String table) {
        this.table = table;
    }

    @Override
    public boolean shares() {
        return false;
    }

    @Override
    public Object key(byte[] hash) {
        return HexFormat.of().formatHex(hash);
    }

    @Override
    public Optional<String> prepare() {
        return Optional.of(
                "INSERT INTO " + table + " (name) SELECT CAST(:key AS VARCHAR) WHERE NOT EXISTS (SELECT 1 FROM " + table
                        + " WHERE name = :key)");
    }

    @Override
    public String attempt() {
        return "SELECT 1, SESSION_ID() FROM " + table + " WHERE name = :key FOR UPDATE NOWAIT";
    }

    @Override
    public String await() {
        return "SELECT 1, SESSION_ID() FROM " + table + " WHERE name = :key FOR UPDATE WAIT 1";
    }

    @Override
    public String release() {
        return "SELECT 1, SESSION_ID() FROM OLD TABLE (DELETE FROM " + table + " WHERE name = :key)";
    }

    /** Whoever can lock the row without waiting has the lock. */
    @Override
    public String holds() {
        return attempt();
    }

    @Override
    public String session() {
        return "SELECT 1, SESSION_ID()";
    }

    @Override
    public Optional<String> attemptInTransaction() {
        return Optional.of(attempt());
    }

    @Override
    public boolean readsAsOfItsFirstStatement() {
        return true;
    }
}
