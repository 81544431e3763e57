// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.postgresql;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Lease;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.testkit.CountingDataSource;
import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.OnOwnTables;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/** All who use the same tables hear of each other, however they spell where the tables are. */
@OnDatabase("postgresql")
class ChannelTest extends OnOwnTables {

    @Test
    void one_who_spells_schema_and_prefix_in_another_way_listens_where_the_others_notify() throws Exception {
        for (Locks.Builder spelled :
                List.of(builder().schemaName("PUBLIC"), builder().tablePrefix(prefix().toUpperCase(Locale.ROOT)))) {
            try (Locks holder = spelled.build();
                    Connection connection = database.dataSource().getConnection();
                    Statement statement = connection.createStatement()) {
                statement.execute(listensWhileItWaits());
                Lease lease = holder.lease(name("job")).acquire(Wait.none());
                update("UPDATE " + table("locks") + " SET wanted = 7 WHERE id = ?", name("job"));

                lease.close();

                PGNotification[] received =
                        connection.unwrap(PGConnection.class).getNotifications(20_000);
                assertThat(received).extracting(PGNotification::getParameter).containsExactly("4:lock" + name("job"));
            }
        }
    }

    /** The statement by which a process begins to listen that waits for a lock. */
    private String listensWhileItWaits() throws Exception {
        CountingDataSource seen = new CountingDataSource(pool);
        CompletableFuture<String> listens = new CompletableFuture<>();
        seen.onStatement(sql -> {
            if (sql.startsWith("LISTEN")) {
                listens.complete(sql);
            }
        });
        try (Locks node = Locks.builder(seen).tablePrefix(prefix()).build();
                Lease held = locks.lease(name("other")).acquire(Wait.none())) {
            // a group: one who waits for a single lock may stand in line instead
            node.leaseAll(held.name().id(), name("more")).acquireAsync(Wait.upTo(Duration.ofMinutes(1)));
            return listens.get(20, TimeUnit.SECONDS);
        }
    }
}
