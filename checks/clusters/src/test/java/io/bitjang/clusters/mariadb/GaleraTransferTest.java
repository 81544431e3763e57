// SPDX-License-Identifier: Apache-2.0
package io.bitjang.clusters.mariadb;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.testkit.Cluster;
import io.bitjang.testkit.ClusterMember;
import io.bitjang.testkit.ClusterSettings;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
@Tag("soak")
class GaleraTransferTest {

    private static final String ALL = "SELECT CONCAT(COUNT(*), ' ', SUM(LENGTH(text))) FROM pages";

    @Test
    void member_that_has_missed_more_than_the_others_keep_gets_a_copy_of_everything() throws SQLException {
        // keeps the last megabyte of writes
        ClusterSettings settings = ClusterSettings.defaults()
                .with("wsrep_provider_options", "gcache.size=1M;gcache.page_size=1M;gcache.keep_pages_size=0")
                // who has been given a copy can give one
                .with(2, "wsrep_sst_donor", "member3")
                .wrongClocks();
        try (Cluster cluster = Cluster.galera(settings)) {
            cluster.member(1)
                    .database()
                    .execute("CREATE TABLE pages(id INT AUTO_INCREMENT PRIMARY KEY, text LONGTEXT)");
            cluster.awaitOnline();
            missMuchAndReturn(cluster, cluster.member(3));
            missMuchAndReturn(cluster, cluster.member(2));
        }
    }

    private static void missMuchAndReturn(Cluster cluster, ClusterMember away) throws SQLException {
        away.kill();
        for (int i = 0; i < 8; i++) {
            cluster.member(1).database().execute("INSERT INTO pages(text) VALUES (REPEAT('x', 1000000))");
        }
        away.rejoin();
        cluster.awaitOnline();

        for (ClusterMember member : cluster.members()) {
            assertThat(read(member)).isEqualTo(read(cluster.member(1)));
        }
    }

    private static String read(ClusterMember member) throws SQLException {
        try (Connection connection = member.database().dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(ALL)) {
            rows.next();
            return rows.getString(1);
        }
    }
}
