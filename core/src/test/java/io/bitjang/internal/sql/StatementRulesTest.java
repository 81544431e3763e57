// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.internal.dialect.Dialect;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the rules come down to in the statements, also on the databases that no test of this module runs on. */
class StatementRulesTest {

    /** What may be bound. None of it is a moment: durations are in micros, duration and idle, and fences are numbers. */
    private static final Set<String> PARAMETERS = Set.of(
            "type",
            "id",
            "lockId",
            "owner",
            "note",
            "again",
            "reserve",
            "me",
            "mark",
            "from",
            "seen",
            "fence",
            "forced",
            "lockIdOfNobody",
            "micros",
            "duration",
            "idle",
            "types",
            "ids",
            "lockIds",
            "rows",
            "limit",
            "by",
            "reason");

    private static final Pattern CLOCK = Pattern.compile(
            "(?i)current_timestamp|current_date|localtimestamp|localtime|sysdate|systimestamp|clock_timestamp|"
                    + "statement_timestamp|transaction_timestamp|utc_timestamp|unix_timestamp|\\bnow\\s*\\(");

    private static final Pattern NEXT_FENCE = Pattern.compile("(?i)GREATEST\\([^,]*fence[^,]* \\+ 1, ");
    private static final Pattern NOT_SET_ASIDE = Pattern.compile("fence \\+ (\\w+\\.)?reserved");

    private static final Pattern ASSIGNMENTS =
            Pattern.compile("(?:ON DUPLICATE KEY UPDATE| SET) ((?:\\w\\.)?[a-z]\\w* = .*?)(?: WHERE | RETURNING |$)");

    static List<Dialect> dialects() {
        return List.of(
                DatabasePagesTest.dialect("PostgreSQL", "18.6"),
                DatabasePagesTest.dialect("MySQL", "8.0.33"),
                DatabasePagesTest.dialect("MariaDB", "11.4.5-MariaDB"),
                DatabasePagesTest.dialect("H2", "2.4.240"));
    }

    private static LockSql sql(Dialect dialect) {
        return new LockSql(dialect, new Tables(null, "bitjang_"));
    }

    /** All of them, by name. */
    private static Map<String, Sql> all(LockSql sql) throws IllegalAccessException {
        Map<String, Sql> all = new LinkedHashMap<>();
        for (Field field : LockSql.class.getDeclaredFields()) {
            if (field.getType() == Sql.class) {
                all.put(field.getName(), (Sql) field.get(sql));
            }
        }
        sql.upsert.ifPresent(upsert -> all.put("upsert", upsert));
        sql.insertGranted.ifPresent(insert -> all.put("insertGranted", insert));
        all.put("takeAll", sql.takeAll(2));
        all.put("raiseFences", sql.raiseFences());
        return all;
    }

    /** Whatever gives a lock to someone new. */
    private static Map<String, Sql> grants(LockSql sql) throws IllegalAccessException {
        Map<String, Sql> grants = all(sql);
        grants.keySet().retainAll(Set.of("upsert", "take", "handOver", "takeOver", "takeAll"));
        return grants;
    }

    @ParameterizedTest
    @MethodSource("dialects")
    void no_time_is_bound_and_no_other_clock_is_read(Dialect dialect) throws Exception {
        String now = Sql.parse(dialect.now()).text();
        String check = Sql.parse(dialect.checkedNow()).text().replace(now, "");

        all(sql(dialect)).forEach((name, statement) -> {
            List<String> names = new ArrayList<>(statement.parameters());
            names.replaceAll(parameter -> parameter.replaceAll("^(type|id)\\d+$", "$1"));
            assertThat(PARAMETERS).as("%s %s", dialect.id(), name).containsAll(names);
            assertThat(statement.text().replace(now, "").replace(check, ""))
                    .as("%s %s", dialect.id(), name)
                    .doesNotContainPattern(CLOCK);
        });
    }

    @ParameterizedTest
    @MethodSource("dialects")
    void whatever_compares_or_sets_an_expiry_does_so_by_the_databases_clock(Dialect dialect) throws Exception {
        Map<String, Sql> timed = all(sql(dialect));
        timed.keySet()
                .retainAll(Set.of(
                        "upsert",
                        "insertGranted",
                        "take",
                        "reenter",
                        "handOver",
                        "takeOver",
                        "takeAll",
                        "release",
                        "renew",
                        "extend",
                        "leave",
                        "force",
                        "renewListed",
                        "releaseListed",
                        "check",
                        "releaseWithCaller",
                        "idle",
                        "deleteIdle",
                        "insertFree"));

        assertThat(timed).hasSizeGreaterThanOrEqualTo(18);
        timed.forEach((name, statement) -> assertThat(statement.text())
                .as("%s %s", dialect.id(), name)
                .contains(Sql.parse(dialect.now()).text()));
    }

    @ParameterizedTest
    @MethodSource("dialects")
    void what_is_done_to_a_grant_is_matched_on_its_id(Dialect dialect) {
        LockSql sql = sql(dialect);

        assertThat(List.of(
                        sql.release,
                        sql.releaseWithCaller,
                        sql.releaseAt,
                        sql.renew,
                        sql.extend,
                        sql.leave,
                        sql.settle,
                        sql.check,
                        sql.guard))
                .allSatisfy(statement -> {
                    assertThat(statement.parameters()).contains("lockId", "type", "id");
                    assertThat(statement.text()).containsPattern("\\.lock_id = \\?");
                });
        assertThat(sql.handOver.parameters()).contains("from");
        assertThat(sql.handOver.text()).containsPattern("\\.lock_id = \\?");
        assertThat(sql.takeOver.parameters()).contains("seen");
        assertThat(sql.takeOver.text()).containsPattern("\\.fence = \\?");
        assertThat(sql.force.text()).containsPattern("\\.fence = \\?");
        assertThat(List.of(sql.renewListed, sql.releaseListed, sql.raiseFences()))
                .allSatisfy(statement -> assertThat(statement.text()).contains("l.lock_id = r.lock_id"));
    }

    @ParameterizedTest
    @MethodSource("dialects")
    void every_grant_has_a_larger_fence_than_all_before_it(Dialect dialect) throws Exception {
        Map<String, Sql> grants = grants(sql(dialect));

        assertThat(grants).hasSizeGreaterThanOrEqualTo(4);
        grants.forEach((name, statement) -> assertThat(statement.text())
                .as("%s %s", dialect.id(), name)
                .containsPattern(NEXT_FENCE)
                .containsPattern(NOT_SET_ASIDE));
    }

    @ParameterizedTest
    @MethodSource("dialects")
    void guard_pins_the_row_against_whatever_gives_it_to_someone_new(Dialect dialect) throws Exception {
        LockSql sql = sql(dialect);
        boolean postgres = dialect.id().equals("postgresql");

        assertThat(sql.guard.text()).endsWith(postgres ? " FOR KEY SHARE" : " FOR UPDATE");
        if (postgres) {
            // FOR NO KEY UPDATE, which a plain update takes, would pass the pin; one that assigns the key does not
            Map<String, Sql> changes = grants(sql);
            changes.put("force", sql.force);
            changes.put("forceUnsettled", sql.forceUnsettled);
            changes.forEach((name, statement) ->
                    assertThat(statement.text()).as(name).containsPattern("\\bFOR UPDATE\\b|type = excluded\\.type"));
        }
    }

    /** In some of its modes MariaDB assigns all at once, otherwise from left to right. */
    @Test
    void no_assignment_on_mariadb_reads_what_was_assigned_before_it() throws Exception {
        Map<String, Sql> changes = all(sql(DatabasePagesTest.dialect("MariaDB", "11.4.5-MariaDB")));
        changes.values()
                .removeIf(statement -> !ASSIGNMENTS.matcher(statement.text()).find());

        assertThat(changes).hasSizeGreaterThan(12);
        changes.forEach((name, statement) -> {
            Matcher list = ASSIGNMENTS.matcher(statement.text());
            assertThat(list.find()).isTrue();
            Set<String> assigned = new HashSet<>();
            for (String each : list.group(1).split(", (?=(\\w\\.)?[a-z_]+ = (?!VALUES\\(lock_id\\) OR))")) {
                String[] sides = each.strip().split(" = ", 2);
                String column = sides[0].replaceFirst("^\\w\\.", "");
                Set<String> read = new HashSet<>(assigned);
                read.retainAll(Arrays.asList(
                        sides[1].replaceAll("VALUES\\(\\w+\\)|'[^']*'", "").split("\\W+")));
                // the upsert's expiry is right for the lock id and the owner as they were and as they are then
                read.removeAll(
                        name.equals("upsert") && column.equals("expires_at") ? Set.of("lock_id", "owner") : Set.of());
                assertThat(read).as("%s: %s reads", name, column).isEmpty();
                assigned.add(column);
            }
        });
    }
}
