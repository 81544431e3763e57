// SPDX-License-Identifier: Apache-2.0
package io.bitjang.clusters;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.testkit.Cluster;
import io.bitjang.testkit.ClusterKind;
import io.bitjang.testkit.ClusterMember;
import io.bitjang.testkit.ClusterSettings;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.opentest4j.TestAbortedException;

/**
 * That each fault is one: what a cluster does meanwhile, and that its members agree afterwards. One cluster for all tests, because it
 * takes longer to start than most of them.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(300)
public abstract class ClusterFaults {

    private static final Duration SOON = Duration.ofSeconds(60);
    private static final long CLOCK_BOUND = 1_000;

    private final ClusterKind kind;
    private final ClusterSettings settings;
    protected Cluster cluster;
    private boolean cuttable = true;

    protected ClusterFaults(ClusterKind kind, ClusterSettings settings) {
        this.kind = kind;
        this.settings = settings.wrongClocks();
    }

    /** Without networks of their own the members can't be cut off; everything else can be tried. */
    @BeforeAll
    void start() {
        try {
            cluster = Cluster.start(kind, settings.cuttable());
        } catch (TestAbortedException e) {
            cuttable = false;
            cluster = Cluster.start(kind, settings);
        }
        writer().database().execute("CREATE TABLE notes(id INT PRIMARY KEY)");
    }

    @AfterAll
    void close() {
        if (cluster != null) {
            cluster.close();
        }
    }

    @BeforeEach
    void emptyTable() {
        writer().database().execute("DELETE FROM notes");
        cluster.awaitOnline();
    }

    @Test
    void what_one_member_writes_all_show_and_a_spread_source_reaches_all() throws SQLException {
        write(writer(), 1);
        cluster.awaitOnline();

        Set<String> reached = new HashSet<>();
        DataSource spread = cluster.spread();
        for (int i = 0; i < Cluster.MEMBERS; i++) {
            try (Connection connection = spread.getConnection()) {
                assertThat(Sql.one(connection, "SELECT COUNT(*) FROM notes")).isEqualTo("1");
                reached.add(connection.getMetaData().getURL());
            }
        }
        assertThat(reached).hasSize(Cluster.MEMBERS);
    }

    @Test
    void killed_member_is_gone_and_comes_back_with_what_it_has_missed() throws Exception {
        ClusterMember lost = follower();
        lost.kill();
        assertThat(lost.isRunning()).isFalse();
        assertThatThrownBy(() -> write(lost, 1)).isInstanceOf(SQLException.class);

        write(writer(), 2);
        lost.rejoin();
        cluster.awaitOnline();

        assertThat(notes(lost)).isEqualTo("1 2");
    }

    @Test
    void stopped_member_comes_back_with_what_it_has_missed() throws Exception {
        ClusterMember away = follower();
        away.stop();
        write(writer(), 1);
        assertThat(away.isRunning()).isFalse();

        away.rejoin();
        cluster.awaitOnline();

        assertThat(notes(away)).isEqualTo("1 1");
    }

    @Test
    void paused_member_answers_nobody_and_goes_on() throws Exception {
        ClusterMember paused = follower();
        CompletableFuture<String> asked;
        try (Connection before = paused.database().dataSource().getConnection()) {
            paused.pause();
            asked = CompletableFuture.supplyAsync(() -> Sql.answer(before, "SELECT COUNT(*) FROM notes"));
            write(writer(), 1);
            assertThatThrownBy(() -> asked.get(500, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);

            paused.resume();
            // what it says depends on whether it was missed meanwhile
            assertThat(asked.get(60, TimeUnit.SECONDS)).isNotNull();
        }
        cluster.awaitOnline();

        assertThat(notes(paused)).isEqualTo("1 1");
    }

    @Test
    void lagging_member_shows_what_was_until_it_catches_up() throws Exception {
        ClusterMember behind = follower();
        behind.lag();
        write(writer(), 1);
        cluster.awaitOnline();

        assertThat(notes(behind)).isEqualTo("0 null");
        assertThat(cluster.members())
                .filteredOn(member -> member != behind)
                .allSatisfy(member -> assertThat(notes(member)).isEqualTo("1 1"));

        behind.catchUp();
        cluster.awaitOnline();
        assertThat(notes(behind)).isEqualTo("1 1");
    }

    @Test
    void member_that_is_cut_off_misses_what_is_written_until_it_is_healed() throws Exception {
        requireNetworks();
        ClusterMember alone = follower();
        alone.cutOff();
        write(writer(), 1);
        try (Connection connection = alone.database().dataSource().getConnection()) {
            assertThat(Sql.answer(connection, "SELECT COUNT(*) FROM notes")).isNotEqualTo("1");
        }

        alone.heal();
        cluster.awaitOnline();
        assertThat(notes(alone)).isEqualTo("1 1");
    }

    @Test
    void writer_that_is_cut_off_reaches_nobody_until_it_is_healed() throws Exception {
        requireNetworks();
        ClusterMember alone = writer();
        alone.cutOff();
        CompletableFuture<Void> unheard = CompletableFuture.runAsync(() -> {
            try {
                write(alone, 1);
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        });
        ClusterMember next = takeOver(alone);
        write(next, 2);

        assertThat(notes(next)).isEqualTo("1 2");
        assertThat(unheard.isDone() && !unheard.isCompletedExceptionally())
                .as("a write that reached no other member is acknowledged")
                .isFalse();

        comesBack(alone);
        cluster.awaitOnline();
        assertThat(cluster.members())
                .allSatisfy(member -> assertThat(notes(member)).isEqualTo(notes(next)));
    }

    @Test
    void another_takes_over_from_a_writer_that_was_killed() throws Exception {
        ClusterMember lost = writer();
        write(lost, 1);
        lost.kill();
        ClusterMember next = takeOver(lost);
        write(next, 2);
        lost.rejoin();
        cluster.awaitOnline();

        assertThat(cluster.members())
                .allSatisfy(member -> assertThat(notes(member)).isEqualTo("2 2"));
    }

    @Test
    void clock_of_one_member_is_wrong_and_that_of_the_others_is_not() throws Exception {
        ClusterMember wrong = cluster.member(2);
        wrong.clock(Duration.ofSeconds(5));
        assertThat(ahead(wrong)).isBetween(5_000 - CLOCK_BOUND, 5_000 + CLOCK_BOUND);
        assertThat(ahead(cluster.member(1))).isBetween(-CLOCK_BOUND, CLOCK_BOUND);

        wrong.clock(Duration.ofSeconds(-5));
        assertThat(ahead(wrong)).isBetween(-5_000 - CLOCK_BOUND, -5_000 + CLOCK_BOUND);

        wrong.drift(5);
        assertThat(Eventually.holds(SOON, () -> ahead(wrong) > 3_000)).isTrue();

        wrong.clock(Duration.ZERO);
        cluster.awaitOnline();
        assertThat(ahead(wrong)).isBetween(-CLOCK_BOUND, CLOCK_BOUND);
    }

    /** How a former writer is brought back that was cut off while it wrote. */
    protected void comesBack(ClusterMember former) {
        former.heal();
    }

    /** What has to be done so that another member takes writes. */
    protected void appoint(ClusterMember next) {}

    private void requireNetworks() {
        if (!cuttable) {
            throw new TestAbortedException("no member can be cut off on this machine");
        }
    }

    private ClusterMember takeOver(ClusterMember lost) throws Exception {
        ClusterMember next = cluster.members().stream()
                .filter(member -> member != lost && member.isRunning())
                .findFirst()
                .orElseThrow();
        appoint(next);
        assertThat(Eventually.holds(SOON, () -> writerBeside(lost) != null)).isTrue();
        return writerBeside(lost);
    }

    private ClusterMember writerBeside(ClusterMember lost) {
        return cluster.members().stream()
                .filter(member -> member != lost && member.isOnline() && member.isWriter())
                .findFirst()
                .orElse(null);
    }

    private ClusterMember writer() {
        return cluster.writer().orElseThrow();
    }

    /** One that need not take writes. */
    private ClusterMember follower() {
        ClusterMember writer = writer();
        return cluster.members().stream()
                .filter(member -> member != writer)
                .reduce((first, last) -> last)
                .orElseThrow();
    }

    private static void write(ClusterMember member, int id) throws SQLException {
        try (Connection connection = member.database().dataSource().getConnection()) {
            Sql.execute(connection, "INSERT INTO notes VALUES (" + id + ")");
        }
    }

    /** How many there are, and the last. */
    private static String notes(ClusterMember member) throws SQLException {
        try (Connection connection = member.database().dataSource().getConnection()) {
            return Sql.one(connection, "SELECT COUNT(*) FROM notes") + " "
                    + Sql.one(connection, "SELECT MAX(id) FROM notes");
        }
    }

    /** By how many milliseconds the member's clock is ahead of ours. */
    private static long ahead(ClusterMember member) throws SQLException {
        String now = member.database().name().equals("postgresql")
                ? "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"
                : "SELECT CAST(UNIX_TIMESTAMP(SYSDATE(3)) * 1000 AS SIGNED)";
        try (Connection connection = member.database().dataSource().getConnection()) {
            return Long.parseLong(Sql.one(connection, now)) - System.currentTimeMillis();
        }
    }
}
