// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

import io.bitjang.Lease;
import io.bitjang.LockId;
import io.bitjang.LockName;
import io.bitjang.LockingFailException;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.spi.LockEvent;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The tables: made, checked, or left to others. The two nodes of this contract have the default tables. */
public abstract class SchemaContract extends OnLocks {

    private static final Duration MINUTE = Duration.ofMinutes(1);

    /** For the databases. */
    protected SchemaContract() {}

    @Test
    void tables_are_made_where_there_are_none_and_left_alone_where_they_are() {
        LockId id = own().build().manager().tryLock("order", "42", "kim", MINUTE);

        Locks again = own().schema(Locks.Schema.CREATE).build();

        assertThat(again.manager().checkLock(id).owner()).isEqualTo("kim");
        assertThatNoException()
                .isThrownBy(() -> own().schema(Locks.Schema.VALIDATE).build());
    }

    @Test
    void without_settings_the_tables_are_called_bitjang() throws SQLException {
        LockId id = locks.manager().tryLock("order", name("42"), "kim", MINUTE);

        assertThat(rows("SELECT owner FROM bitjang_locks WHERE id = '" + name("42") + "'"))
                .containsExactly(List.of("kim"));
        assertThat(rows("SELECT version FROM bitjang_schema_version")).hasSize(1);
        assertThat(rows("SELECT count(*) FROM bitjang_audit")).hasSize(1);
        other.manager().releaseLock(id);
    }

    @Test
    void eight_nodes_can_start_at_the_same_moment() throws Exception {
        dropAfterwards("");
        int nodes = 8;
        CyclicBarrier start = new CyclicBarrier(nodes);
        ExecutorService executor = Executors.newFixedThreadPool(nodes);
        try {
            List<Future<Locks>> made = new ArrayList<>();
            for (int i = 0; i < nodes; i++) {
                made.add(executor.submit(() -> {
                    start.await();
                    return builder().tablePrefix(prefix()).build();
                }));
            }
            LockId id = null;
            for (Future<Locks> future : made) {
                Locks node = closing(future.get(1, TimeUnit.MINUTES));
                id = id == null ? node.manager().tryLock("order", "42") : id;
                assertThat(node.manager().checkLock(id).held()).isTrue();
            }
        } finally {
            executor.shutdownNow();
        }
        assertThat(rows("SELECT version FROM " + prefix() + "schema_version")).hasSize(1);
    }

    @Test
    void missing_tables_are_not_valid_and_the_message_names_the_script() {
        assertThatExceptionOfType(LockingFailException.class)
                .isThrownBy(() -> own().schema(Locks.Schema.VALIDATE).build())
                .withMessageContainingAll(prefix() + "schema_version", "is not there", script(), "create")
                .withMessageContaining("with '" + prefix() + "' instead of 'bitjang_' at the beginning of each name");
        assertThat(scriptText())
                .contains("CREATE TABLE IF NOT EXISTS bitjang_locks", "bitjang_audit", "bitjang_locks_view");
    }

    @Test
    void older_tables_are_not_valid_and_the_message_names_the_script() {
        own().build();
        database.execute("UPDATE " + prefix() + "schema_version SET version = 0");

        assertThatExceptionOfType(LockingFailException.class)
                .isThrownBy(() -> own().schema(Locks.Schema.VALIDATE).build())
                .withMessageContainingAll("version 0", "needs version 1", script(), "'" + prefix() + "' instead of");
    }

    @Test
    void older_tables_are_brought_up_to_date_and_keep_their_locks() throws SQLException {
        LockId id = own().build().manager().tryLock("order", "42", "kim", MINUTE);
        database.execute("UPDATE " + prefix() + "schema_version SET version = 0");

        Locks upgraded = own().build();

        assertThat(upgraded.manager().checkLock(id).owner()).isEqualTo("kim");
        assertThat(rows("SELECT MAX(version) FROM " + prefix() + "schema_version"))
                .containsExactly(List.of("1"));
        assertThatNoException()
                .isThrownBy(() -> own().schema(Locks.Schema.VALIDATE).build());
    }

    @Test
    void newer_tables_are_refused_with_advice() {
        own().build();
        database.execute("UPDATE " + prefix() + "schema_version SET version = 99");

        for (Locks.Schema mode : List.of(Locks.Schema.CREATE, Locks.Schema.VALIDATE)) {
            assertThatExceptionOfType(LockingFailException.class)
                    .isThrownBy(() -> own().schema(mode).build())
                    .withMessageContainingAll("version 99", "only version 1", "newer bitjang-core");
        }
    }

    @Test
    void with_none_nobody_looks_and_the_first_operation_says_what_is_missing() {
        Locks node = own().schema(Locks.Schema.NONE).build();

        assertThatExceptionOfType(LockingFailException.class)
                .isThrownBy(() -> node.manager().tryLock("order", "42"))
                .withMessageContaining("order/42")
                .satisfies(failure -> assertThat(
                                String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT))
                        .contains(prefix().toLowerCase(Locale.ROOT) + "locks"))
                .satisfies(failure -> assertThat(failure.getCause()).isInstanceOf(SQLException.class));
        assertThatExceptionOfType(LockingFailException.class)
                .isThrownBy(() -> node.lease("job").acquire(Wait.upTo(Duration.ofMillis(300))));
        assertThatExceptionOfType(LockingFailException.class)
                .isThrownBy(() -> node.admin().counts());
    }

    @Test
    void with_none_tables_that_are_there_are_used() {
        own().build();
        database.execute("UPDATE " + prefix() + "schema_version SET version = 99");

        Locks node = own().schema(Locks.Schema.NONE).build();

        assertThatNoException().isThrownBy(() -> node.manager().tryLock("order", "42"));
    }

    @Test
    void two_prefixes_are_two_worlds() {
        Locks elsewhere = own().build();

        locks.manager().tryLock("order", name("42"), "kim", MINUTE);

        assertThatNoException().isThrownBy(() -> elsewhere.manager().tryLock("order", name("42"), "lee", MINUTE));
    }

    @Test
    void the_tables_can_be_in_a_schema_of_their_own() throws SQLException {
        String schema = "s" + prefix() + "x";
        createSchema(schema);
        Locks node = closing(builder().schemaName(schema).build());

        LockId id = node.manager().tryLock("order", name("42"), "kim", MINUTE);
        try (Lease lease = node.leaseAll("a", "b").acquire(Wait.none())) {
            lease.renew();
        }

        assertThat(rows("SELECT owner, state FROM " + schema + ".bitjang_locks_view WHERE type = 'order'"))
                .containsExactly(List.of("kim", "held"));
        assertThat(locks.admin().find(id.name())).isEmpty();
        assertThatNoException()
                .isThrownBy(() -> closing(builder()
                        .schemaName(schema)
                        .schema(Locks.Schema.VALIDATE)
                        .build()));
    }

    @Test
    void the_longest_names_of_schema_and_prefix_work_also_when_someone_waits() throws Exception {
        String schema = (prefix() + "x".repeat(40)).substring(0, 40);
        String longest = (prefix() + "y".repeat(40)).substring(0, 40);
        createSchema(schema);
        Set<LockEvent.Kind> told = ConcurrentHashMap.newKeySet();
        Locks one = closing(builder()
                .schemaName(schema)
                .tablePrefix(longest)
                .listener(event -> told.add(event.kind()))
                .build());
        Locks two = closing(builder().schemaName(schema).tablePrefix(longest).build());

        Lease held = one.lease("job").tryAcquire().orElseThrow();
        CompletableFuture<Lease> waiting =
                two.lease("job").acquireAsync(Wait.upTo(MINUTE)).toCompletableFuture();
        Soon.holds(
                "the other is known to wait",
                () -> one("SELECT COUNT(*) FROM " + schema + "." + longest + "locks WHERE wanted <> 0")
                        .equals("1"));
        held.close();

        try (Lease next = waiting.get(1, TimeUnit.MINUTES)) {
            assertThat(next.fence()).isGreaterThan(held.fence());
        }
        assertThat(told).contains(LockEvent.Kind.RELEASED).doesNotContain(LockEvent.Kind.RELEASE_FAILED);
    }

    @Test
    void the_view_shows_readable_times_and_the_state_but_no_lock_id() throws SQLException {
        Locks node = own().build();
        node.manager().tryLock("order", "held", "kim", MINUTE, "a note");
        node.manager().releaseLock(node.manager().tryLock("order", "free", "kim"));
        node.manager().tryLock("order", "expired", "kim", Duration.ofMillis(1));
        Instant acquired =
                node.admin().find(LockName.of("order", "held")).orElseThrow().acquiredAt();
        String view = prefix() + "locks_view";
        Soon.holds("it lapsed", () -> "expired".equals(one("SELECT state FROM " + view + " WHERE id = 'expired'")));

        assertThat(rows("SELECT id, state, owner FROM " + view + " ORDER BY id"))
                .containsExactly(
                        List.of("expired", "expired", "kim"),
                        List.of("free", "free", "kim"),
                        List.of("held", "held", "kim"));
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT * FROM " + view + " WHERE id = 'held'")) {
            List<String> columns = new ArrayList<>();
            for (int i = 1; i <= row.getMetaData().getColumnCount(); i++) {
                columns.add(row.getMetaData().getColumnLabel(i).toLowerCase(Locale.ROOT));
            }
            assertThat(columns).contains("type", "id", "owner", "fence", "note", "state", "acquired_at", "expires_at");
            assertThat(columns).doesNotContain("lock_id");
            assertThat(row.next()).isTrue();
            Instant shown = time(row, "acquired_at");
            assertThat(Duration.between(shown, acquired).abs()).isLessThan(Duration.ofMillis(1));
            assertThat(Duration.between(shown, time(row, "expires_at"))).isBetween(MINUTE, MINUTE.plusSeconds(1));
        }
    }

    /** A moment as PostgreSQL and H2 show it; MySQL and MariaDB show UTC without saying so. */
    private static Instant time(ResultSet row, String column) throws SQLException {
        String type =
                row.getMetaData().getColumnTypeName(row.findColumn(column)).toLowerCase(Locale.ROOT);
        return type.contains("zone") || type.contains("tz")
                ? row.getObject(column, OffsetDateTime.class).toInstant()
                : row.getObject(column, LocalDateTime.class).toInstant(ZoneOffset.UTC);
    }

    /** Settings for a node with tables of this test's own. */
    private Builder own() {
        dropAfterwards("");
        return new Builder();
    }

    /** Closes what it builds after the test. */
    private final class Builder {
        private Locks.Schema mode = Locks.Schema.CREATE;

        Builder schema(Locks.Schema wanted) {
            mode = wanted;
            return this;
        }

        Locks build() {
            return closing(builder().tablePrefix(prefix()).schema(mode).build());
        }
    }

    private boolean dropped;

    private void dropAfterwards(String schema) {
        if (dropped) {
            return;
        }
        dropped = true;
        closing(() -> {
            database.execute("DROP VIEW IF EXISTS " + schema + prefix() + "locks_view");
            for (String table : List.of("locks", "audit", "schema_version")) {
                database.execute("DROP TABLE IF EXISTS " + schema + prefix() + table);
            }
        });
    }

    /** What is a schema elsewhere is a database on MySQL and MariaDB, where SCHEMA is another word for it. */
    private void createSchema(String schema) {
        database.execute("CREATE SCHEMA " + schema);
        boolean cascades =
                database.name().startsWith("postgresql") || database.name().startsWith("h2");
        closing(() -> database.execute("DROP SCHEMA " + schema + (cascades ? " CASCADE" : "")));
    }

    private String script() {
        String product = database.name().replace("-server", "");
        return "io/bitjang/schema/" + product + "/V1__bitjang.sql";
    }

    private String scriptText() {
        try (InputStream in = Locks.class.getClassLoader().getResourceAsStream(script())) {
            assertThat(in).as(script()).isNotNull();
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String one(String sql) {
        try {
            return rows(sql).get(0).get(0);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    private List<List<String>> rows(String sql) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<List<String>> result = new ArrayList<>();
            while (rows.next()) {
                List<String> row = new ArrayList<>();
                for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) {
                    row.add(rows.getString(i));
                }
                result.add(row);
            }
            return result;
        }
    }
}
