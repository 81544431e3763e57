// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import io.bitjang.LockException;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.spi.LockListener;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NestedExceptionUtils;

/** Makes the {@link Locks}; what goes wrong with that is said in words that lead to the setting. */
final class LocksFactory {

    private static final LockName NOBODY = LockName.of("bitjang", "start-up");

    private final BitjangProperties settings;
    private final String owner;
    private final List<LockListener> listeners;

    LocksFactory(BitjangProperties settings, String owner, List<LockListener> listeners) {
        this.settings = settings;
        this.owner = owner;
        this.listeners = listeners;
    }

    /** One connection of the data source is enough for it. */
    Locks create(DataSource source) {
        Locks.Schema schema = settings.schema();
        if (schema == null) {
            schema = isEmbedded(source) ? Locks.Schema.CREATE : Locks.Schema.VALIDATE;
        }
        Locks locks = build(source, schema);
        if (schema != Locks.Schema.NONE) {
            requireWritable(locks);
        }
        return locks;
    }

    private Locks build(DataSource source, Locks.Schema schema) {
        Locks.Builder builder = Locks.builder(source)
                .owner(owner)
                .leaseDuration(settings.lease())
                .offlineDuration(settings.offlineLock())
                .schema(schema)
                .tablePrefix(settings.tablePrefix())
                .audit(settings.audit())
                .notifications(settings.notifications())
                .sessionWaiters(settings.session().waiters())
                .maxSessionLocks(settings.session().maxLocks());
        if (settings.schemaName() != null) {
            builder.schemaName(settings.schemaName());
        }
        listeners.forEach(builder::listener);
        try {
            return builder.build();
        } catch (LockException e) {
            throw isUsable(builder) ? noTables(e, schema) : notUsable(e);
        } catch (IllegalArgumentException e) {
            throw new LocksStartException(
                    String.valueOf(e.getMessage()),
                    "Correct the setting under 'bitjang', name another data source by bitjang.data-source, or switch Bitjang"
                            + " off with bitjang.enabled=false.",
                    e);
        }
    }

    /** Whether the server would do, if only it had the tables. */
    private static boolean isUsable(Locks.Builder builder) {
        try {
            builder.schema(Locks.Schema.NONE).build().close();
            return true;
        } catch (LockException e) {
            return false;
        }
    }

    /** A statement that changes nothing, but that a reader may not send: better now than at the first lock. */
    private static void requireWritable(Locks locks) {
        try {
            locks.admin().forceRelease(NOBODY, 0, "bitjang", "whether the tables can be written");
        } catch (LockException e) {
            locks.close();
            throw readOnly(e);
        }
    }

    private static boolean isEmbedded(DataSource source) {
        try (Connection connection = source.getConnection()) {
            if (connection.isReadOnly()) {
                throw readOnly(null);
            }
            @Nullable String url = connection.getMetaData().getURL();
            if (url == null || !url.startsWith("jdbc:h2:")) {
                return false;
            }
            return !url.startsWith("jdbc:h2:tcp:") && !url.startsWith("jdbc:h2:ssl:");
        } catch (SQLException e) {
            throw notReachable(e.getMessage(), e);
        }
    }

    static LocksStartException notReachable(@Nullable String why, SQLException cause) {
        // a pool says that it has no connection; why it got none, the cause of that says
        Throwable root = NestedExceptionUtils.getMostSpecificCause(cause);
        return new LocksStartException(
                "The database of the locks can't be reached: " + why + (root == cause ? "" : ": " + root.getMessage()),
                "Start the database, or correct spring.datasource.* (address, user, password). If the locks belong to another database, name its data"
                        + " source by bitjang.data-source.",
                cause);
    }

    private static LocksStartException noTables(LockException cause, Locks.Schema schema) {
        String script = "Let Flyway or Liquibase run the script (docs/spring-boot.md, \"The tables\")";
        return new LocksStartException(
                String.valueOf(cause.getMessage()),
                schema == Locks.Schema.CREATE
                        ? script + " and set bitjang.schema=validate, if what is said above does not help."
                        : script + ", run it by hand, or set bitjang.schema=create.",
                cause);
    }

    private static LocksStartException notUsable(LockException cause) {
        return new LocksStartException(
                String.valueOf(cause.getMessage()),
                "Change that on the locks' connections (the JDBC URL, the pool's isolation level, read-only mode and first"
                        + " statements), or give the locks a data source of their own, or another one, that leads to the"
                        + " primary (@BitjangDataSource, bitjang.data-source); docs/databases says what works. Or switch"
                        + " Bitjang off with bitjang.enabled=false.",
                cause);
    }

    static LocksStartException readOnly(@Nullable LockException cause) {
        return new LocksStartException(
                "The tables of the locks can't be written: "
                        + (cause == null ? "the data source is read-only." : cause.getMessage()),
                "Use a data source that leads to the primary and is not read-only (bitjang.data-source), and grant its user"
                        + " SELECT, INSERT, UPDATE and DELETE on the tables (docs/spring-boot.md, \"Privileges\").",
                cause);
    }
}
