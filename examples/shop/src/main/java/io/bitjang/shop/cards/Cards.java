// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.cards;

import java.util.UUID;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** The cards of users: two each, if everything goes well. */
@Service
class Cards {

    static final int MOST = 2;
    private static final long LOOKING_MS = 25;

    private final JdbcClient jdbc;

    Cards(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /**
     * Adds a card, as one writes it who thinks of one request at a time.
     *
     * @return false if the user has two
     */
    @Transactional
    public boolean add(String user, Runnable looking) {
        int count = count(user);
        looking.run();
        pause();
        if (count >= MOST) {
            return false;
        }
        jdbc.sql("INSERT INTO shop_card (id, user_id) VALUES (?, ?)")
                .params(UUID.randomUUID().toString(), user)
                .update();
        return true;
    }

    private static void pause() {
        try {
            Thread.sleep(LOOKING_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted", e);
        }
    }

    int count(String user) {
        return jdbc.sql("SELECT COUNT(*) FROM shop_card WHERE user_id = ?")
                .param(user)
                .query(Integer.class)
                .single();
    }

    void forget(String user) {
        jdbc.sql("DELETE FROM shop_card WHERE user_id = ?").param(user).update();
    }
}
