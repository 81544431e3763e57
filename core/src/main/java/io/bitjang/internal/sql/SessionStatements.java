// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.LockName;
import io.bitjang.internal.dialect.SessionDialect;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Optional;

/** The statements on session locks, and the keys that names become in them. Immutable. */
final class SessionStatements {

    final Optional<Sql> space;
    final Optional<Sql> prepare;
    final Sql attempt;
    final Sql await;
    final Sql release;
    final Optional<Sql> releaseAll;
    final Sql holds;
    final Sql session;
    final Optional<Sql> attemptInTransaction;
    final SessionDialect dialect;

    SessionStatements(SessionDialect dialect) {
        this.dialect = dialect;
        this.space = dialect.space().map(Sql::parse);
        this.prepare = dialect.prepare().map(Sql::parse);
        this.attempt = Sql.parse(dialect.attempt());
        this.await = Sql.parse(dialect.await());
        this.release = Sql.parse(dialect.release());
        this.releaseAll = dialect.releaseAll().map(Sql::parse);
        this.holds = Sql.parse(dialect.holds());
        this.session = Sql.parse(dialect.session());
        this.attemptInTransaction = dialect.attemptInTransaction().map(Sql::parse);
    }

    /** Computes the key of a lock in a name space: servers have one space for all applications, and some for all databases. */
    Object key(String space, LockName name) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            for (String part : new String[] {"bitjang", space, name.type(), name.id()}) {
                byte[] bytes = part.getBytes(StandardCharsets.UTF_8);
                digest.update((bytes.length + ":").getBytes(StandardCharsets.US_ASCII));
                digest.update(bytes);
            }
            return dialect.key(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every JDK has SHA-256", e);
        }
    }

    static Params key(Object key) {
        return Params.none().set("key", key);
    }
}
