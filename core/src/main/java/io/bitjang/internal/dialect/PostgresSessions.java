// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.dialect;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Advisory locks: a key of 64 bits, from the hash. */
final class PostgresSessions implements SessionDialect {

    @Override
    public boolean shares() {
        return true;
    }

    @Override
    public Object key(byte[] hash) {
        return ByteBuffer.wrap(hash).getLong();
    }

    /** The server has a space for each database; a table that is not there yet has the name that it would get. */
    @Override
    public Optional<String> space() {
        return Optional.of("""
            SELECT coalesce((SELECT n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                              WHERE c.oid = to_regclass(coalesce(:schema || '.', '') || :prefix || 'locks')),
                            lower(coalesce(:schema, current_schema()) || '.' || :prefix || 'locks'))""");
    }

    @Override
    public String attempt() {
        return "SELECT CASE WHEN pg_try_advisory_lock(:key) THEN 1 ELSE 0 END, pg_backend_pid()";
    }

    /** The setting of lock_timeout is the statement's own: it ends with the statement. */
    @Override
    public String await() {
        return "SELECT 1, pg_backend_pid(), set_config('lock_timeout', CAST(:millis AS text), true), pg_advisory_lock(:key)";
    }

    @Override
    public String release() {
        return "SELECT CASE WHEN pg_advisory_unlock(:key) THEN 1 ELSE 0 END, pg_backend_pid()";
    }

    @Override
    public Optional<String> releaseAll() {
        return Optional.of("SELECT pg_advisory_unlock_all()");
    }

    @Override
    public String holds() {
        return """
            SELECT count(*), pg_backend_pid() FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid = pg_backend_pid()
               AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND objsubid = 1
               AND (classid::bigint << 32 | objid::bigint) = :key""";
    }

    @Override
    public String session() {
        return "SELECT 1, pg_backend_pid()";
    }

    @Override
    public Optional<String> attemptInTransaction() {
        return Optional.of("SELECT CASE WHEN pg_try_advisory_xact_lock(:key) THEN 1 ELSE 0 END, pg_backend_pid()");
    }

    @Override
    public boolean readsAsOfItsFirstStatement() {
        return true;
    }

    @Override
    public Optional<String> circumstances() {
        return Optional.of("SELECT 'in_recovery', pg_is_in_recovery()::text");
    }

    @Override
    public @Nullable String unfit(Map<String, String> circumstances) {
        return "true".equals(circumstances.get("in_recovery"))
                ? "this server is a standby, whose advisory locks are not those of the primary"
                : null;
    }

    @Override
    public boolean mayBePooled() {
        return true;
    }
}
