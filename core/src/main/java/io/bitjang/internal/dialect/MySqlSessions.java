// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.dialect;

import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * GET_LOCK of MySQL and MariaDB. Its names are of at most 64 characters and, on MySQL, case-insensitive; the hash in lower-case
 * hexadecimal digits is neither too long nor ambiguous.
 */
final class MySqlSessions implements SessionDialect {

    @Override
    public boolean shares() {
        return true;
    }

    /** The server has one space for all its databases. */
    @Override
    public Optional<String> space() {
        return Optional.of("SELECT IF(@@lower_case_table_names = 0, s.name, LOWER(s.name)) FROM"
                + " (SELECT CONCAT(COALESCE(:schema, DATABASE()), '.', :prefix) AS name) s");
    }

    @Override
    public Object key(byte[] hash) {
        return HexFormat.of().formatHex(hash);
    }

    @Override
    public String attempt() {
        return "SELECT GET_LOCK(:key, 0), CONNECTION_ID()";
    }

    @Override
    public String await() {
        return "SELECT GET_LOCK(:key, :seconds), CONNECTION_ID()";
    }

    @Override
    public String release() {
        return "SELECT RELEASE_LOCK(:key), CONNECTION_ID()";
    }

    @Override
    public Optional<String> releaseAll() {
        return Optional.of("SELECT RELEASE_ALL_LOCKS()");
    }

    @Override
    public String holds() {
        return "SELECT COALESCE(IS_USED_LOCK(:key) = CONNECTION_ID(), 0), CONNECTION_ID()";
    }

    @Override
    public String session() {
        return "SELECT 1, CONNECTION_ID()";
    }

    @Override
    public Optional<String> circumstances() {
        return Optional.of(
                "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('wsrep_on', 'group_replication_group_name', 'read_only')");
    }

    @Override
    public @Nullable String unfit(Map<String, String> circumstances) {
        if ("ON".equals(circumstances.get("wsrep_on"))) {
            return "this server is a member of a Galera cluster, where GET_LOCK holds on one node only";
        }
        if (!circumstances.getOrDefault("group_replication_group_name", "").isEmpty()) {
            return "this server is a member of a replication group, where GET_LOCK holds on one member only";
        }
        return "ON".equals(circumstances.get("read_only"))
                ? "this server is a read-only replica, where GET_LOCK is not that of the primary"
                : null;
    }
}
