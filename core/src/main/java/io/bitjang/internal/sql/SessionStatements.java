// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.LockName;
import io.bitjang.internal.dialect.SessionDialect;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** The statements on session locks, and the keys that names become in them. Immutable. */
final class SessionStatements {

    final Sql space;
    final Sql prepare;
    final Sql attempt;
    final Sql await;
    final Sql release;
    final Sql releaseAll;
    final Sql holds;
    final Sql session;
    final Sql attemptInTransaction;
    private final SessionDialect dialect;

    SessionStatements(SessionDialect dialect) {
        this.dialect = dialect;
        this.space = Sql.parse(dialect.space());
        this.prepare = Sql.parse(dialect.prepare());
        this.attempt = Sql.parse(dialect.attempt());
        this.await = Sql.parse(dialect.await());
        this.release = Sql.parse(dialect.release());
        this.releaseAll = Sql.parse(dialect.releaseAll());
        this.holds = Sql.parse(dialect.holds());
        this.session = Sql.parse(dialect.session());
        this.attemptInTransaction = Sql.parse(dialect.attemptInTransaction());
    }

    boolean shares() {
        return dialect.shares();
    }

    SessionDialect dialect() {
        return dialect;
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
