// SPDX-License-Identifier: Apache-2.0
package io.bitjang.clusters.postgresql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.testkit.Cluster;
import io.bitjang.testkit.ClusterKind;
import io.bitjang.testkit.ClusterMember;
import io.bitjang.testkit.ClusterSettings;
import io.bitjang.testkit.TestDatabaseException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** For what a commit waits, and what happens if a cluster can't start. */
@Timeout(300)
class ReplicationModesTest {

    @Test
    void remote_apply_waits_until_one_standby_shows_the_commit() throws Exception {
        try (Cluster cluster = Cluster.start(ClusterKind.REMOTE_APPLY, ClusterSettings.defaults())) {
            cluster.member(2).lag();
            cluster.member(3).lag();
            CompletableFuture<Void> commit = CompletableFuture.runAsync(() -> write(cluster.member(1)));
            assertThatThrownBy(() -> commit.get(1, TimeUnit.SECONDS)).isInstanceOf(TimeoutException.class);

            cluster.member(2).catchUp();
            commit.get(60, TimeUnit.SECONDS);
        }
    }

    @Test
    void asynchronous_commit_waits_for_nobody_and_is_lost_with_the_primary() throws Exception {
        try (Cluster cluster = Cluster.start(ClusterKind.ASYNCHRONOUS, ClusterSettings.defaults())) {
            ClusterMember primary = cluster.member(1);
            // not paused: what was sent to them would be read as soon as they go on
            cluster.member(2).kill();
            cluster.member(3).kill();
            write(primary);
            primary.kill();
            cluster.member(2).startAlone();
            cluster.member(2).promote();

            assertThat(hasTable(cluster.member(2))).isFalse();

            // what the former primary had acknowledged is there, and it takes more: nobody told it
            primary.startAlone();
            assertThat(hasTable(primary)).isTrue();
            assertThat(primary.isWriter()).isTrue();

            primary.rejoin();
            cluster.member(3).rejoin();
            cluster.awaitOnline();
            assertThat(hasTable(primary)).isFalse();
        }
    }

    @Test
    void cluster_that_does_not_start_says_why_in_the_words_of_each_member() {
        assertThatThrownBy(() -> Cluster.start(
                                ClusterKind.ASYNCHRONOUS,
                                ClusterSettings.defaults().with(2, "no_such_setting", "1"))
                        .close())
                .isInstanceOf(TestDatabaseException.class)
                .hasMessageContaining("Cannot start ASYNCHRONOUS")
                .hasMessageContaining("member 2: has ended")
                .hasMessageContaining("no_such_setting")
                .hasMessageContaining("member 3: ");
    }

    private static void write(ClusterMember member) {
        member.database().execute("CREATE TABLE acknowledged(id INT)");
    }

    private static boolean hasTable(ClusterMember member) throws SQLException {
        try (Connection connection = member.database().dataSource().getConnection();
                Statement statement = connection.createStatement();
                var rows = statement.executeQuery("SELECT to_regclass('acknowledged') IS NOT NULL")) {
            rows.next();
            return rows.getBoolean(1);
        }
    }
}
