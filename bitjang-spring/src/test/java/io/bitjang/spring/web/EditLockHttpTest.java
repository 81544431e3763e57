// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.Locks;
import io.bitjang.testkit.TestDatabases;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Every row of the table of requests, with what is answered. */
class EditLockHttpTest {

    private static final String TAB = "tab-0001";
    private static final String OTHER_TAB = "tab-0002";
    private static HikariDataSource pool;
    private static EditServer server;

    private final String lock = "/order/" + UUID.randomUUID();
    private final Person kim = server.person("kim");
    private final Person lee = server.person("lee");

    @BeforeAll
    static void start() {
        pool = TestDatabases.h2().pool(5);
        server = new EditServer(pool, Locks.builder(pool), EditLockSettings.ofTypes("order"));
    }

    @AfterAll
    static void stop() {
        server.close();
        pool.close();
    }

    @Test
    void free_lock_is_taken_and_its_holder_is_shown() {
        assertThat(kim.get(lock).is(200).json()).containsEntry("held", false).containsEntry("owner", null);
        Person.Answer taken = kim.take(lock, TAB).is(201);
        assertThat(taken.json()).containsEntry("owner", "kim").containsEntry("resumed", false);
        assertThat(lee.get(lock).is(200).json()).containsEntry("held", true).containsEntry("owner", "kim");
        lee.take(lock, TAB).isProblem(423, "held");
        kim.take(lock, TAB).is(200);
        kim.take(lock, OTHER_TAB).isProblem(423, "held");
    }
}
