// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.internal.dialect.Dialect;
import io.bitjang.internal.dialect.Dialects;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The statements on the page of a database are those that it is sent. A comment in the line before a block of SQL names the
 * statement; lines may be broken anywhere, and what the page abbreviates ({@code `<now>` is `...`}) may be written either way.
 */
class DatabasePagesTest {

    private static final Path PAGES = Path.of("").toAbsolutePath().resolveSibling("docs/databases");
    private static final int TOGETHER = 2;
    private static final Pattern SECTION =
            Pattern.compile("^## Statements$(.*?)^## ", Pattern.MULTILINE | Pattern.DOTALL);
    private static final Pattern BLOCK =
            Pattern.compile("^([^\\n]*)\\n```sql\\n(.*?)^```", Pattern.MULTILINE | Pattern.DOTALL);
    private static final Pattern ABBREVIATION = Pattern.compile("`(<\\w+>)` is\\s+`([^`]*)`");

    @ParameterizedTest
    @CsvSource({"PostgreSQL, 18.6", "MySQL, 8.0.33", "MariaDB, 11.4.5-MariaDB", "H2, 2.4.240"})
    void the_page_of_a_database_shows_the_statements_that_are_sent(String product, String version) throws IOException {
        Dialect dialect = dialect(product, version);
        String section = statements(dialect.id());
        Map<String, String> abbreviations = abbreviations(section);
        Map<String, String> sent = new LinkedHashMap<>();
        sent(dialect).forEach((name, sql) -> sent.put("<!-- " + name + " -->", shortened(named(sql), abbreviations)));
        List<MatchResult> blocks = BLOCK.matcher(section).results().toList();

        assertThat(blocks)
                .as("what stands before the blocks of SQL")
                .extracting(block -> block.group(1))
                .containsExactlyInAnyOrderElementsOf(sent.keySet());
        for (MatchResult block : blocks) {
            assertThat(shortened(block.group(2), abbreviations))
                    .as("%s %s", dialect.id(), block.group(1))
                    .isEqualTo(sent.get(block.group(1)));
        }
        assertThat(abbreviations.keySet())
                .as("abbreviations that are defined and used")
                .allMatch(abbreviation ->
                        blocks.stream().anyMatch(block -> block.group(2).contains(abbreviation)));
    }

    /** What every page shows, by name. */
    private static Map<String, Sql> sent(Dialect dialect) {
        Tables tables = new Tables(null, "bitjang_");
        LockSql sql = new LockSql(dialect, tables);
        SessionStatements sessions = new SessionStatements(dialect.sessions(tables.sessions()));
        Map<String, Sql> sent = new LinkedHashMap<>();
        sent.put("take", sql.take);
        if (sql.upsert.isEmpty()) {
            sent.put("read", sql.read);
            sent.put("reenter", sql.reenter);
        }
        sql.insertGranted.ifPresent(insert -> sent.put("insertGranted", insert));
        sql.upsert.ifPresent(upsert -> sent.put("upsert", upsert));
        sent.put("release", sql.release);
        sent.put("handOver", sql.handOver);
        sent.put("renewListed", sql.renewListed);
        sent.put("guard", sql.guard);
        sent.put("takeAll", sql.takeAll(TOGETHER));
        sent.put("session.attempt", sessions.attempt);
        sent.put("session.await", sessions.await);
        return sent;
    }

    /** As it was before its parameters became question marks. */
    private static String named(Sql sql) {
        String text = sql.text();
        for (String parameter : sql.parameters()) {
            text = text.replaceFirst("\\?", ":" + parameter);
        }
        return text;
    }

    /** In the order of the page: each may use those before it. */
    private static Map<String, String> abbreviations(String section) {
        Map<String, String> abbreviations = new LinkedHashMap<>();
        ABBREVIATION
                .matcher(section)
                .results()
                .forEach(found -> abbreviations.put(found.group(1), withoutLayout(found.group(2))));
        assertThat(abbreviations).containsKeys("<now>", "<columns>", "<rows>");
        return abbreviations;
    }

    /** Columns may have an alias before them. */
    private static String shortened(String sql, Map<String, String> abbreviations) {
        String text = withoutLayout(sql);
        for (Map.Entry<String, String> each : abbreviations.entrySet()) {
            String meaning = each.getValue();
            String withAlias = ("l." + meaning.replace(", ", ", l.")).replace("l.<", "<");
            text = text.replace(withAlias, each.getKey()).replace(meaning, each.getKey());
        }
        return text;
    }

    private static String withoutLayout(String sql) {
        return sql.strip().replaceAll("\\s+", " ").replace("( ", "(").replace(" )", ")");
    }

    private static String statements(String database) throws IOException {
        Matcher section = SECTION.matcher(Files.readString(PAGES.resolve(database + ".md")));
        assertThat(section.find()).isTrue();
        return section.group(1);
    }

    static Dialect dialect(String product, String version) {
        return Dialects.of(product, version, false);
    }
}
