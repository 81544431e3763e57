// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static io.bitjang.testkit.contract.HostileSetting.address;
import static io.bitjang.testkit.contract.HostileSetting.parameters;
import static io.bitjang.testkit.contract.HostileSetting.pool;
import static io.bitjang.testkit.contract.HostileSetting.session;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.TestDatabase;
import io.bitjang.testkit.TestDatabases;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.support.ParameterDeclarations;
import org.junit.platform.commons.support.AnnotationSupport;

/** The table of {@link HostileSettingsContract}: a new setting is one line. */
final class HostileSettings implements ArgumentsProvider {

    /** Pools with another isolation level, or without auto-commit. */
    private static final List<HostileSetting> POOLS = List.of(
            pool(false, "TRANSACTION_READ_COMMITTED"),
            pool(true, "TRANSACTION_SERIALIZABLE"),
            pool(false, "TRANSACTION_SERIALIZABLE"));

    /** A clock that an administrator, or a test, has put before the server's: an hour ahead. */
    private static final String OTHER_CLOCK =
            "DO $$ BEGIN PERFORM pg_advisory_xact_lock(7117); CREATE SCHEMA IF NOT EXISTS hostile;"
                    + " CREATE OR REPLACE FUNCTION hostile.clock_timestamp() RETURNS timestamptz LANGUAGE sql"
                    + " AS $f$ SELECT pg_catalog.clock_timestamp() + interval '1 hour' $f$; END $$";

    private static final List<HostileSetting> POSTGRESQL = List.of(
            session("SET standard_conforming_strings = off", "SET backslash_quote = on", "SET array_nulls = off"),
            session("SET transform_null_equals = on"),
            session(
                    "SET timezone = 'Asia/Kathmandu'",
                    "SET datestyle = 'ISO, YMD'",
                    "SET intervalstyle = 'sql_standard'"),
            session("SET extra_float_digits = -15", "SET bytea_output = 'escape'", "SET row_security = off"),
            session("SET enable_indexscan = off", "SET enable_bitmapscan = off", "SET enable_nestloop = off"),
            session("SET jit_above_cost = 0", "SET plan_cache_mode = force_generic_plan", "SET work_mem = 64"),
            session("SET lock_timeout = 1", "SET deadlock_timeout = 1"),
            session("SET statement_timeout = 20000", "SET idle_in_transaction_session_timeout = 20000"),
            session("SET default_transaction_isolation = 'serializable'"),
            session("SET default_transaction_isolation = 'repeatable read'"),
            session("SET default_transaction_deferrable = on", "SET synchronous_commit = local"),
            session("SET synchronous_commit = off").refused("synchronous_commit"),
            session("SET search_path = public, pg_catalog"),
            session(OTHER_CLOCK, "SET search_path = public, hostile, pg_catalog"),
            session("SET default_transaction_read_only = on").refused("read-only"),
            session("SET search_path = nowhere").refused("could not be created"),
            parameters("preferQueryMode=simple"),
            parameters("preferQueryMode=simple")
                    .and("SET transform_null_equals = on", "SET standard_conforming_strings = off"),
            parameters("preferQueryMode=extendedCacheEverything&prepareThreshold=1&binaryTransfer=true"),
            parameters("prepareThreshold=-1&autosave=always&cleanupSavepoints=true"),
            parameters("prepareThreshold=0&binaryTransfer=false&stringtype=unspecified&adaptiveFetch=true"),
            parameters("defaultRowFetchSize=1&reWriteBatchedInserts=true&hideUnprivilegedObjects=true"),
            parameters("currentSchema=public&readOnlyMode=always&logUnclosedConnections=true"));

    /** The second for a mode that is no more. */
    private static final Set<Integer> NO_SUCH_MODE = Set.of(1231, 3899);

    /** For MySQL and MariaDB; each mode of the server is added to them. */
    private static final List<HostileSetting> MYSQL_FAMILY = List.of(
            session("SET SESSION sql_safe_updates = 1"),
            session("SET SESSION sql_select_limit = 1"),
            session("SET SESSION sql_big_selects = 0", "SET SESSION max_join_size = 1")
                    .refused("MAX_JOIN_SIZE"),
            session(
                    "SET SESSION sql_auto_is_null = 1",
                    "SET SESSION big_tables = 1",
                    "SET SESSION div_precision_increment = 0"),
            session("SET timestamp = UNIX_TIMESTAMP() + 3600").refused("SET timestamp"),
            session("SET timestamp = UNIX_TIMESTAMP() - 3600").refused("SET timestamp"),
            session("SET SESSION time_zone = '+09:00'", "SET SESSION lc_time_names = 'tr_TR'"),
            session("SET SESSION innodb_lock_wait_timeout = 1", "SET SESSION lock_wait_timeout = 1"),
            session(
                    "SET SESSION foreign_key_checks = 0",
                    "SET SESSION unique_checks = 0",
                    "SET SESSION default_storage_engine = MEMORY"),
            session("SET SESSION optimizer_switch = 'derived_merge=off,materialization=off,index_merge=off'"),
            session("SET SESSION completion_type = CHAIN"),
            session("SET SESSION low_priority_updates = 1", "SET SESSION insert_id = 7"),
            session("SET SESSION collation_connection = utf8mb4_turkish_ci"),
            session("SET SESSION collation_connection = utf8mb4_bin", "SET SESSION max_sort_length = 8"),
            session("SET SESSION character_set_connection = latin1").refused("character set"),
            pool(false, "TRANSACTION_REPEATABLE_READ").and("SET SESSION completion_type = CHAIN"),
            pool(false, "TRANSACTION_SERIALIZABLE")
                    .and("SET SESSION completion_type = CHAIN")
                    .refused("completion_type"),
            session("SET SESSION completion_type = 'RELEASE'").refused("completion_type"),
            parameters("useAffectedRows=true"));

    private static final List<HostileSetting> MYSQL = List.of(
            session("SET NAMES latin1").refused("character set"),
            session("SET autocommit = 0").refused("autocommit"),
            pool(false, "TRANSACTION_READ_UNCOMMITTED"),
            parameters("useLocalSessionState=true")
                    .withoutAutoCommit()
                    .and("SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE"),
            session("SET SESSION character_set_results = ascii").refused("character set"),
            session("SET SESSION max_execution_time = 20000", "SET SESSION sql_require_primary_key = 1"),
            session("SET SESSION sql_generate_invisible_primary_key = 1"),
            session(
                    "SET SESSION internal_tmp_mem_storage_engine = MEMORY",
                    "SET SESSION windowing_use_high_precision = OFF"),
            parameters("sessionVariables=sql_mode='NO_BACKSLASH_ESCAPES'"),
            parameters("sessionVariables=sql_mode='NO_BACKSLASH_ESCAPES'&useServerPrepStmts=true"),
            parameters("sessionVariables=sql_mode='NO_BACKSLASH_ESCAPES,ANSI,PAD_CHAR_TO_FULL_LENGTH'"),
            parameters("useServerPrepStmts=true&cachePrepStmts=true&prepStmtCacheSqlLimit=4096"),
            parameters("useServerPrepStmts=true&useAffectedRows=true")
                    .and("SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES'"),
            parameters("useCursorFetch=true&defaultFetchSize=1&jdbcCompliantTruncation=false"),
            parameters("rewriteBatchedStatements=true&allowMultiQueries=true&continueBatchOnError=true"),
            parameters("useLocalSessionState=true&useLocalTransactionState=true&elideSetAutoCommits=true"),
            parameters("emulateUnsupportedPstmts=false&processEscapeCodesForPrepStmts=false&tinyInt1isBit=false"),
            parameters("connectionTimeZone=%2B05:45&forceConnectionTimeZoneToSession=true"),
            parameters("connectionCollation=utf8mb4_general_ci"),
            parameters("sessionVariables=sql_mode='ANSI',sql_safe_updates=1,sql_select_limit=1"),
            parameters("characterEncoding=ISO-8859-1").refused("character set"));

    private static final List<HostileSetting> MARIADB = List.of(
            session("SET SESSION tx_read_only = 1").refused("read-only"),
            session("SET autocommit = 0"),
            pool(false, "TRANSACTION_READ_UNCOMMITTED"),
            session("SET SESSION max_statement_time = 20", "SET SESSION check_constraint_checks = 0"),
            session(
                    "SET SESSION sql_mode = 'ORACLE,SIMULTANEOUS_ASSIGNMENT,EMPTY_STRING_IS_NULL,NO_BACKSLASH_ESCAPES'"),
            session("SET SESSION sql_mode = 'ORACLE'", "SET SESSION sql_safe_updates = 1"),
            session("SET SESSION old_mode = 'NO_DUP_KEY_WARNINGS_WITH_IGNORE,ZERO_DATE_TIME_CAST'"),
            session("SET SESSION innodb_snapshot_isolation = ON"),
            session(
                    "SET SESSION join_cache_level = 8",
                    "SET SESSION optimizer_prune_level = 0",
                    "SET SESSION use_stat_tables = NEVER"),
            parameters("useServerPrepStmts=true&cachePrepStmts=true"),
            parameters("useServerPrepStmts=true&useAffectedRows=true")
                    .and("SET SESSION sql_mode = 'SIMULTANEOUS_ASSIGNMENT'"),
            parameters("defaultFetchSize=1&allowMultiQueries=true&rewriteBatchedStatements=true"),
            parameters("useBulkStmts=true&useBulkStmtsForInserts=true&returnMultiValuesGeneratedIds=true"),
            parameters("timezone=+05:45&forceConnectionTimeZoneToSession=true&tinyInt1isBit=false"),
            parameters("sessionVariables=sql_mode='ORACLE',sql_safe_updates=1"));

    /** H2 has most of its settings for a whole database. */
    private static final List<HostileSetting> H2 = Stream.of(
                    Stream.of("DB2", "Derby", "HSQLDB", "MSSQLServer", "MariaDB", "MySQL", "Oracle", "PostgreSQL")
                            .map(mode -> "MODE=" + mode),
                    Stream.of("MODE=LEGACY", "MODE=STRICT", "MODE=REGULAR"),
                    Stream.of(
                            "DATABASE_TO_UPPER=FALSE",
                            "DATABASE_TO_LOWER=TRUE",
                            "CASE_INSENSITIVE_IDENTIFIERS=TRUE",
                            "DEFAULT_NULL_ORDERING=HIGH",
                            "LOCK_TIMEOUT=1",
                            "QUERY_TIMEOUT=20000",
                            "TIME ZONE=Asia/Kathmandu",
                            "MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE;DEFAULT_NULL_ORDERING=HIGH",
                            "MODE=MySQL;DATABASE_TO_LOWER=TRUE;CASE_INSENSITIVE_IDENTIFIERS=TRUE",
                            "OPTIMIZE_REUSE_RESULTS=FALSE;OPTIMIZE_IN_SELECT=FALSE;QUERY_CACHE_SIZE=0"))
            .flatMap(all -> all)
            .map(HostileSetting::parameters)
            .toList();

    private static final List<HostileSetting> H2_REFUSED = List.of(
            parameters("IGNORECASE=TRUE").refused("exact"),
            pool(true, "TRANSACTION_READ_UNCOMMITTED").refused("READ UNCOMMITTED"),
            session("SET COLLATION ENGLISH STRENGTH PRIMARY").refused("exact"));

    @Override
    public Stream<Arguments> provideArguments(ParameterDeclarations parameters, ExtensionContext context)
            throws SQLException {
        String name = AnnotationSupport.findAnnotation(context.getRequiredTestClass(), OnDatabase.class)
                .orElseThrow()
                .value();
        return settings(TestDatabases.byName(name)).map(Arguments::of);
    }

    private static Stream<HostileSetting> settings(TestDatabase database) throws SQLException {
        Stream<HostileSetting> own = switch (database.name()) {
            case "postgresql" -> POSTGRESQL.stream();
            case "mysql" -> concat(MYSQL_FAMILY, modes(database), MYSQL);
            case "mariadb" -> concat(MYSQL_FAMILY, modes(database), MARIADB, otherDriver(database));
            default -> concat(H2, H2_REFUSED).map(HostileSettings::inMemory);
        };
        return Stream.concat(POOLS.stream(), own);
    }

    @SafeVarargs
    private static Stream<HostileSetting> concat(List<HostileSetting>... lists) {
        return Stream.of(lists).flatMap(List::stream);
    }

    /** Each mode that the server knows, as it calls it; a mode is a bit. */
    private static List<HostileSetting> modes(TestDatabase database) throws SQLException {
        List<HostileSetting> modes = new ArrayList<>(List.of(session("SET SESSION sql_mode = ''")));
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            for (int bit = 0; bit < 63; bit++) {
                try {
                    statement.execute("SET SESSION sql_mode = " + (1L << bit));
                } catch (SQLException e) {
                    if (!NO_SUCH_MODE.contains(e.getErrorCode())) {
                        throw e;
                    }
                    continue;
                }
                try (ResultSet row = statement.executeQuery("SELECT @@sql_mode")) {
                    row.next();
                    HostileSetting mode = session("SET SESSION sql_mode = '" + row.getString(1) + "'");
                    // MySQL's driver does not notice that the mode has changed, and doubles each backslash
                    boolean unnoticed =
                            database.name().equals("mysql") && row.getString(1).contains("NO_BACKSLASH_ESCAPES");
                    modes.add(unnoticed ? mode.refused("does not arrive as it was sent") : mode);
                }
            }
        }
        return modes;
    }

    private static List<HostileSetting> otherDriver(TestDatabase database) {
        String url = "jdbc:mysql://" + database.address() + ":" + database.port() + "/bitjang?sslMode=DISABLED";
        String failover = database.jdbcUrl().replace("jdbc:mariadb:", "jdbc:mariadb:sequential:");
        return List.of(
                address("MySQL's driver", url),
                address("MySQL's driver, useAffectedRows", url + "&useAffectedRows=true&useServerPrepStmts=true"),
                address("the driver's failover", failover),
                address("the driver's failover, transactionReplay", failover + "&transactionReplay=true")
                        .refused("transactionReplay"));
    }

    /** Gone with its last connection. */
    private static HostileSetting inMemory(HostileSetting setting) {
        return new HostileSetting(
                setting.name(),
                "jdbc:h2:mem:hostile" + Integer.toHexString(setting.name().hashCode()),
                setting.parameters(),
                setting.statements(),
                setting.autoCommit(),
                setting.isolation(),
                setting.refusal());
    }

    /** The connections of a node next door that has no such setting, if the setting is not the whole database's. */
    static HikariDataSource plain(HostileSetting setting, TestDatabase database) {
        return database.name().equals("h2") && setting.url() != null ? setting.open(database) : database.pool(8);
    }

    static void drop(HikariDataSource plain, String prefix) throws SQLException {
        try (Connection connection = plain.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("DROP VIEW IF EXISTS " + prefix + "locks_view");
            for (String table : List.of("locks", "audit", "schema_version", "sessions")) {
                statement.execute("DROP TABLE IF EXISTS " + prefix + table);
            }
            if (connection.getMetaData().getDatabaseProductName().equals("PostgreSQL")) {
                statement.execute("DROP SCHEMA IF EXISTS hostile CASCADE");
            }
        }
    }
}
