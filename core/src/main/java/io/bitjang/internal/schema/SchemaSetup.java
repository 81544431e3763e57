// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.schema;

import io.bitjang.LockingFailException;
import io.bitjang.internal.sql.Ask;
import io.bitjang.internal.sql.Database;
import io.bitjang.internal.sql.DatabaseException;
import io.bitjang.internal.sql.Params;
import io.bitjang.internal.sql.Sql;
import io.bitjang.internal.sql.Tables;
import io.bitjang.internal.time.Ticker;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Creates the tables, or checks that they are there. */
public final class SchemaSetup {

    /** How often creating the tables is tried: several nodes may create them at the same moment, and some of them then fail. */
    private static final int TRIES = 10;

    /**
     * Lets the instances of one process create the tables one after the other: H2 lets two create a view at the same moment, and
     * its table can't be dropped any more. An instance that waited long enough goes on: another's database may hang.
     */
    private static final ReentrantLock ONE_AT_A_TIME = new ReentrantLock();

    private static final Duration LONGEST_TURN = Duration.ofSeconds(10);

    private final Ticker ticker;
    private final Database database;
    private final Tables tables;
    private final SchemaScripts scripts;

    /** Makes the setup of this database. */
    public SchemaSetup(Ticker ticker, Database database, Tables tables) {
        this.ticker = ticker;
        this.database = database;
        this.tables = tables;
        this.scripts = new SchemaScripts(database.dialect().id(), tables);
    }

    /** Creates the tables that are missing. */
    public void create() {
        @Nullable DatabaseException failure = null;
        for (int attempt = 0; version().orElse(0) < SchemaScripts.CURRENT; attempt++) {
            if (attempt == TRIES) {
                throw failure == null ? notSeen() : notCreated(failure);
            }
            if (attempt > 0) {
                ticker.pause(null, 100);
            }
            failure = tryToCreate();
        }
        validate();
    }

    private @Nullable DatabaseException tryToCreate() {
        boolean myTurn = takeTurn();
        try {
            runScripts();
            return null;
        } catch (DatabaseException e) {
            return e;
        } finally {
            if (myTurn) {
                ONE_AT_A_TIME.unlock();
            }
        }
    }

    private LockingFailException notCreated(DatabaseException e) {
        return failed(
                "The tables could not be created (" + e.getMessage() + "). "
                        + (e.isMissingTable() ? database.dialect().ifTablesAreGone() : "")
                        + "Run the script "
                        + scripts.path(SchemaScripts.CURRENT)
                        + " from the jar of bitjang-core by hand" + scripts.renaming()
                        + ", and set the schema mode to validate.",
                e.sqlException());
    }

    private LockingFailException notSeen() {
        return failed(
                "The tables were created, but " + tables.version()
                        + " does not show it. "
                        + database.dialect().ifTablesAreGone()
                        + "Does this data source read from a replica? Locks need one that reads and writes on the same server.",
                null);
    }

    private static boolean takeTurn() {
        try {
            return ONE_AT_A_TIME.tryLock(LONGEST_TURN.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private void runScripts() {
        for (int version = version().orElse(0) + 1; version <= SchemaScripts.CURRENT; version++) {
            for (String statement : scripts.statements(version)) {
                database.ask(Ask.count(new Sql(statement, List.of()), Params.none()));
            }
        }
    }

    /** Checks that the tables are there and of the right version, or names the script to run. */
    public void validate() {
        OptionalInt found = version();
        if (found.isEmpty()) {
            throw failed(
                    "The table " + tables.version() + " is not there. "
                            + database.dialect().ifTablesAreGone()
                            + "Run the script "
                            + scripts.path(SchemaScripts.CURRENT)
                            + " from the jar of bitjang-core" + scripts.renaming()
                            + ", or set the schema mode to create.",
                    null);
        }
        int version = found.getAsInt();
        if (version < SchemaScripts.CURRENT) {
            throw failed(
                    "The tables " + tables.prefix() + "* have version " + version + ", this library needs version "
                            + SchemaScripts.CURRENT + ". Run the script " + scripts.path(version + 1)
                            + " and those after it from the jar of bitjang-core" + scripts.renaming()
                            + ", or set the schema mode to create.",
                    null);
        }
        if (version > SchemaScripts.CURRENT) {
            throw failed(
                    "The tables " + tables.prefix() + "* have version " + version + ", this library knows only version "
                            + SchemaScripts.CURRENT + ". Use a newer bitjang-core.",
                    null);
        }
        requireExactNames();
    }

    /** Refuses a table in which two names may be one, by a database's settings or because it was made by hand. */
    private void requireExactNames() {
        Sql sql = new Sql(
                "SELECT COUNT(*) FROM (SELECT type FROM " + tables.locks()
                        + " WHERE 1 = 0 UNION ALL SELECT 'a') x WHERE x.type = 'A' OR x.type = 'a '",
                List.of());
        int alike;
        try {
            alike = number(sql);
        } catch (DatabaseException e) {
            throw unreadable("The table " + tables.locks(), e);
        }
        if (alike > 0) {
            throw failed(
                    "The table " + tables.locks()
                            + " does not compare names exactly: 'a' is 'A' or 'a ' there (IGNORECASE or"
                            + " COLLATION on H2, another collation of its columns elsewhere). Make it by the script "
                            + scripts.path(SchemaScripts.CURRENT) + ", in a database without such a setting.",
                    null);
        }
    }

    private OptionalInt version() {
        try {
            return OptionalInt.of(
                    number(new Sql("SELECT COALESCE(MAX(version), 0) FROM " + tables.version(), List.of())));
        } catch (DatabaseException e) {
            if (e.isMissingTable()) {
                return OptionalInt.empty();
            }
            throw unreadable("The version of the tables", e);
        }
    }

    private int number(Sql sql) {
        return database.ask(Ask.rows(sql, Params.none(), row -> row.getInt(1))).get(0);
    }

    private static LockingFailException unreadable(String what, DatabaseException e) {
        return failed(what + " could not be read: " + e.getMessage(), e.sqlException());
    }

    private static LockingFailException failed(String why, @Nullable SQLException cause) {
        return new LockingFailException(null, why, cause);
    }
}
