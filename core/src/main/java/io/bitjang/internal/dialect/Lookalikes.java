// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.dialect;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Servers that speak the protocol of PostgreSQL or MySQL and call themselves so to JDBC, but whose row locks, advisory locks or
 * clocks are something else. None of them has passed the contracts.
 */
final class Lookalikes {

    /**
     * One such server.
     *
     * @param mark what its version says, in lower case
     * @param name what it is called
     * @param why what is different
     */
    private record Lookalike(String mark, String name, String why) {}

    private static final String GUARD = "the guard could not keep others from a lock until the commit";

    private static final List<Lookalike> POSTGRESQL = List.of(
            new Lookalike("cockroach", "CockroachDB", "FOR KEY SHARE locks nothing there, so " + GUARD),
            new Lookalike(
                    "-yb-|yugabyte", "YugabyteDB", "each node reads a clock of its own, up to 500 ms from the others"),
            new Lookalike("crate", "CrateDB", "it has neither transactions nor row locks"),
            new Lookalike(
                    "spanner|pgadapter", "Spanner", "FOR KEY SHARE and advisory locks are missing there, so " + GUARD),
            new Lookalike(
                    "dsql",
                    "Aurora DSQL",
                    "row locks don't wait there, conflicts show at the commit only, so " + GUARD),
            new Lookalike("redshift", "Redshift", "it has no row locks"),
            new Lookalike("greenplum|cloudberry", "Greenplum", "FOR KEY SHARE locks whole tables there, or nothing"),
            new Lookalike(
                    "materialize|risingwave|questdb|duckdb|cedardb|immudb|firebolt|denodo",
                    "this engine",
                    "it has no such row locks"));

    private static final List<Lookalike> MYSQL = List.of(
            new Lookalike("tidb", "TiDB", "SKIP LOCKED drops the row lock there without a word, so " + GUARD),
            new Lookalike("vitess|planetscale", "Vitess", "row locks, GET_LOCK and the clock are those of one shard"),
            new Lookalike("oceanbase", "OceanBase", "its row locks have not been proved"),
            new Lookalike("singlestore|memsql", "SingleStore", "its row locks don't skip locked rows"),
            new Lookalike("dolt", "Dolt", "it has no row locks"),
            new Lookalike("tddl|polardb-x|polarx", "PolarDB-X", "row locks and the clock are those of one shard"),
            new Lookalike("xpand|clustrix", "Xpand", "its row locks have not been proved"),
            new Lookalike(
                    "starrocks|doris|databend|greptime|clickhouse|manticore",
                    "this engine",
                    "it has no such row locks"));

    private Lookalikes() {}

    /** Refuses a server that gives itself away. */
    static void refuse(String dialect, Map<String, String> facts) {
        String text = (facts.getOrDefault("version", "") + " " + facts.getOrDefault("version_comment", ""));
        for (Lookalike each : dialect.equals("postgresql") ? POSTGRESQL : MYSQL) {
            if (Pattern.compile(each.mark)
                    .matcher(text.toLowerCase(Locale.ROOT))
                    .find()) {
                throw new IllegalArgumentException("Bitjang does not work on " + each.name + " (" + text.strip() + "): "
                        + each.why + ". It knows PostgreSQL, MySQL, MariaDB and H2 themselves.");
            }
        }
    }
}
