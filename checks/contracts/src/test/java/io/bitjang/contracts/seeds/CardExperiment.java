// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.seeds;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Locks;
import io.bitjang.testkit.contract.OnLocks;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A user may have two cards, and asks for twenty at once. */
public abstract class CardExperiment extends OnLocks {

    static final int REQUESTS = 20;
    static final int MOST = 2;

    private String cards;

    @BeforeEach
    void createCards() {
        cards = prefix() + "card";
        database.execute("CREATE TABLE " + cards + " (user_id INT NOT NULL, number INT NOT NULL)");
        AutoCloseable drop = () -> database.execute("DROP TABLE " + cards);
        closing(drop);
    }

    @Test
    void without_a_lock_a_user_gets_more_cards_than_allowed() throws Exception {
        CyclicBarrier allHaveCounted = new CyclicBarrier(REQUESTS);

        request(number -> addCard(database.dataSource(), 1, number, () -> allHaveCounted.await(30, TimeUnit.SECONDS)));

        assertThat(cardsOf(1)).isEqualTo(REQUESTS);
    }

    @Test
    void with_bitjang_a_user_gets_exactly_the_cards_that_are_allowed_and_no_lock_is_left() throws Exception {
        int repetitions = database.name().equals("mysql") ? 100 : 10;
        for (int user = 1; user <= repetitions; user++) {
            int id = user;
            String lock = name("user:" + user);
            request(number -> {
                Locks node = number % 2 == 0 ? locks : other;
                return node.session(lock)
                        .executeWithLock(Duration.ofSeconds(30), () -> addCard(pool, id, number, () -> 0));
            });
            assertThat(cardsOf(user)).as("repetition %d", user).isEqualTo(MOST);
            for (Locks node : List.of(locks, other)) {
                assertThat(node.session(lock).tryRun(() -> {}))
                        .as("the lock is free again")
                        .isTrue();
            }
        }
    }

    /** One request. */
    interface Request {
        boolean send(int number) throws Exception;
    }

    /** Sends all requests at once, and returns when all are answered. */
    final void request(Request request) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(REQUESTS);
        try {
            CyclicBarrier start = new CyclicBarrier(REQUESTS);
            List<Future<Boolean>> answers = new ArrayList<>();
            for (int i = 0; i < REQUESTS; i++) {
                int number = i;
                answers.add(threads.submit(() -> {
                    start.await(30, TimeUnit.SECONDS);
                    return request.send(number);
                }));
            }
            for (Future<Boolean> answer : answers) {
                answer.get(60, TimeUnit.SECONDS);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    /** What the application does: count, and insert if there is room. */
    final boolean addCard(DataSource source, int user, int number, Callable<?> inBetween) {
        try (Connection connection = source.getConnection()) {
            if (count(connection, user) >= MOST) {
                return false;
            }
            inBetween.call();
            try (PreparedStatement insert = connection.prepareStatement("INSERT INTO " + cards + " VALUES (?, ?)")) {
                insert.setInt(1, user);
                insert.setInt(2, number);
                return insert.executeUpdate() == 1;
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    final int cardsOf(int user) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            return count(connection, user);
        }
    }

    private int count(Connection connection, int user) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT COUNT(*) FROM " + cards + " WHERE user_id = " + user)) {
            rows.next();
            return rows.getInt(1);
        }
    }
}
