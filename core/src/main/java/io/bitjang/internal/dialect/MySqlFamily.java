// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.dialect;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What MySQL and MariaDB have in common. */
abstract class MySqlFamily implements Dialect {

    /** The clock. Not UNIX_TIMESTAMP(NOW(6)): that goes through the session's time zone, and is wrong for an hour each autumn. */
    static final String NOW = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";

    /**
     * The clock as an expression that is out of range (1690) if someone has SET timestamp in this session, which moves
     * UTC_TIMESTAMP: SYSDATE goes on. SYSDATE is not a clock to use instead, because it is the session's local time and moves
     * while the statement runs.
     */
    static final String CHECKED_NOW =
            NOW + " + IF(ABS(TIMESTAMPDIFF(SECOND, NOW(), SYSDATE())) > 5, 9223372036854775807, 0)";

    private final boolean readsWait;

    /** @param readsWait whether plain reads would wait for locked rows: SERIALIZABLE, without auto-commit */
    MySqlFamily(boolean readsWait) {
        this.readsWait = readsWait;
    }

    /** Names the collation that compares exactly: case, accents and trailing blanks count. */
    abstract String collation();

    @Override
    public String now() {
        return NOW;
    }

    @Override
    public List<String> questions() {
        return List.of(
                "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('version', 'version_comment', 'wsrep_on', 'read_only',"
                        + " 'innodb_read_only', 'group_replication_group_name', 'group_replication_single_primary_mode',"
                        + " 'log_bin', 'binlog_format', 'innodb_flush_log_at_trx_commit')",
                "SELECT 'sample', HEX(CONVERT(? USING utf8mb4))",
                "SELECT 'echo', CONVERT(? USING utf8mb4)",
                "SELECT 'moved', ABS(TIMESTAMPDIFF(SECOND, NOW(), SYSDATE())) > 5",
                "SHOW SESSION VARIABLES WHERE Variable_name IN ('tx_read_only', 'transaction_read_only', 'autocommit',"
                        + " 'completion_type', 'tx_isolation', 'transaction_isolation')");
    }

    @Override
    public @Nullable String unfit(Connection connection) throws SQLException {
        return unfit(
                Map.of(DRIVERS_ADDRESS, String.valueOf(connection.getMetaData().getURL())));
    }

    @Override
    public @Nullable String unfit(Map<String, String> facts) {
        // MariaDB's driver tells all its settings in the address, wherever they come from
        if (facts.getOrDefault(DRIVERS_ADDRESS, "").contains("transactionReplay=true")) {
            return "the driver repeats a transaction by itself when its connection breaks (transactionReplay), and nobody looks"
                    + " whether the lock was still held. Set transactionReplay to false in the JDBC address";
        }
        if (isOn(facts, "wsrep_on")) {
            return "this server is a member of a Galera cluster, where a row lock holds on one member only."
                    + " Use a server without Galera; its replicas may be as many as you like";
        }
        if (!facts.getOrDefault("group_replication_group_name", "").isEmpty()
                && "OFF".equals(facts.get("group_replication_single_primary_mode"))) {
            return "this server is a member of a replication group with several primaries, where a row lock holds on one"
                    + " member only. Switch the group to single-primary mode";
        }
        if (isOn(facts, "read_only") || isOn(facts, "innodb_read_only")) {
            return "this server is read-only, as a replica or a secondary is. Lead the data source to the primary";
        }
        if ("0".equals(facts.get("innodb_flush_log_at_trx_commit"))) {
            return "innodb_flush_log_at_trx_commit is 0, so a server that crashes forgets whom it has granted a lock. Set it to 1";
        }
        if (isOn(facts, "tx_read_only") || isOn(facts, "transaction_read_only")) {
            return "the session is read-only (transaction_read_only). Give the locks a data source that may write";
        }
        @Nullable String session = unfitSession(facts);
        if (session != null) {
            return session;
        }
        if (isOn(facts, "log_bin") && "STATEMENT".equals(facts.get("binlog_format"))) {
            return "its replicas repeat statements (binlog_format=STATEMENT), with other row locks and another clock, and so"
                    + " other holders. Set binlog_format to ROW or MIXED";
        }
        String sample = HexFormat.of().withUpperCase().formatHex(SAMPLE.getBytes(StandardCharsets.UTF_8));
        if (!facts.getOrDefault("sample", sample).equals(sample)
                || !facts.getOrDefault("echo", SAMPLE).equals(SAMPLE)) {
            return "a text does not arrive as it was sent, so names are not exact: the connection's character set is not"
                    + " utf8mb4 (characterEncoding, SET NAMES), or someone has SET sql_mode to NO_BACKSLASH_ESCAPES without"
                    + " the driver's knowledge. Leave the character set to the driver, and give it the mode in sessionVariables";
        }
        return "1".equals(facts.get("moved"))
                ? "this session's clock is not the server's: someone has SET timestamp. Remove it from the pool's first statements"
                : null;
    }

    /** Says why a session is unfit by what a pool's first statement may have set; null if it is fit. */
    private static @Nullable String unfitSession(Map<String, String> facts) {
        String believed = facts.getOrDefault(DRIVERS_AUTO_COMMIT, "ON");
        if (!facts.getOrDefault("autocommit", believed).equals(believed)) {
            return "the session's autocommit is " + facts.get("autocommit")
                    + ", and the driver does not know it. Leave it"
                    + " to the pool's auto-commit setting, not to a statement";
        }
        String completion = facts.getOrDefault("completion_type", "NO_CHAIN");
        boolean serializable = isSerializable(facts) && believed.equals("OFF");
        return completion.equals("RELEASE") || completion.equals("CHAIN") && serializable
                ? "completion_type is " + completion
                        + ": every commit ends the connection, or begins the next transaction"
                        + " before its isolation level can be set. Set it to NO_CHAIN"
                : null;
    }

    /** Tells whether the session is at SERIALIZABLE, under the name that the server has for its level. */
    static boolean isSerializable(Map<String, String> facts) {
        return "SERIALIZABLE".equals(facts.getOrDefault("transaction_isolation", facts.get("tx_isolation")));
    }

    private static boolean isOn(Map<String, String> facts, String variable) {
        return "ON".equals(facts.get(variable));
    }

    @Override
    public String checkedNow() {
        return CHECKED_NOW;
    }

    /** Sets the isolation level for the next transaction only: the session's own level stays. */
    @Override
    public Optional<String> beforeTransaction() {
        return readsWait ? Optional.of("SET TRANSACTION ISOLATION LEVEL READ COMMITTED") : Optional.empty();
    }

    /**
     * Writes the assignments, of which one is the answer. With the driver's useAffectedRows a row that stays as it was has no
     * answer, so something changes always.
     */
    static String set(RowUpdate change, String row) {
        String set = change.assignments((column, value) -> row + "." + column + " = "
                + (column.equals(change.answer) ? "LAST_INSERT_ID(" + change.encode(value) + ") DIV 8" : value));
        return change.mayChangeNothing() ? set + ",\n    " + row + ".probes = c.probes + 1" : set;
    }

    @Override
    public String listedRows() {
        return """
            JSON_TABLE(%2$s, '$[*]' COLUMNS (
                type VARCHAR(255) CHARACTER SET utf8mb4 COLLATE %1$s PATH '$[0]',
                id VARCHAR(255) CHARACTER SET utf8mb4 COLLATE %1$s PATH '$[1]',
                lock_id VARCHAR(32) CHARACTER SET utf8mb4 COLLATE %1$s PATH '$[2]',
                micros BIGINT PATH '$[3]')) AS r""".formatted(collation(), json());
    }

    /** Returns the expression for the listed rows as a JSON text. */
    String json() {
        return ":rows";
    }

    @Override
    public String readListed(String table, String columns) {
        // the order is forced: the listed rows first, each then found by primary key; the limit keeps off
        // sql_select_limit
        return "SELECT " + columns + " FROM " + listedRows() + " STRAIGHT_JOIN " + table
                + " l ON l.type = r.type AND l.id = r.id LIMIT 18446744073709551615";
    }

    @Override
    public boolean bindsJson() {
        return true;
    }

    @Override
    public String insertFree(String table) {
        return "INSERT IGNORE INTO " + table + " (type, id, fence, expires_at) SELECT r.type, r.id, 0, " + NOW
                + " FROM " + listedRows() + " ORDER BY r.type, r.id";
    }

    /** A share lock followed by the release would be an upgrade, and two of them a deadlock. */
    @Override
    public String pin() {
        return "FOR UPDATE";
    }

    /** A locking read sees the present, a plain one next to it the transaction's snapshot. */
    @Override
    public String seenBySnapshot(String table) {
        return "(SELECT s.lock_id FROM " + table + " s WHERE s.type = :type AND s.id = :id)";
    }

    @Override
    public boolean answersByGeneratedKey() {
        return true;
    }

    @Override
    public SessionDialect sessions(String table) {
        return new MySqlSessions();
    }
}
