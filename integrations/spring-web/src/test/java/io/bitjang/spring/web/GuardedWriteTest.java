// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.LockId;
import io.bitjang.Locks;
import io.bitjang.spring.OnSpring;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** A guarded handler's change, the guard and the release are one transaction, on every database. */
class GuardedWriteTest extends OnSpring {

    private static final String TAB = "tab-0001";

    /** What happens inside the handler after its change, whose answer is the handler's. */
    @FunctionalInterface
    interface Inside {
        ResponseEntity<String> run() throws Exception;
    }

    /** Checked: rolls back all the same. */
    @ResponseStatus(HttpStatus.CONFLICT)
    static class DomainSaysNo extends Exception {
        private static final long serialVersionUID = 1L;
    }

    private static final AtomicReference<Inside> INSIDE = new AtomicReference<>();

    static class Application {

        @Bean
        Accounts accounts(JdbcTemplate jdbc) {
            return new Accounts(jdbc);
        }
    }

    @RestController
    static class Accounts {

        private final JdbcTemplate jdbc;

        Accounts(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @PostMapping("/accounts/{no}")
        @RequiresEditLock(type = "account", id = "{no}")
        ResponseEntity<String> add(@PathVariable long no) throws Exception {
            jdbc.update("UPDATE spring_account SET balance = balance + 1 WHERE id = ?", no);
            return INSIDE.get().run();
        }

        @PostMapping("/accounts/{no}/draft")
        @RequiresEditLock(type = "account", id = "{no}")
        ResponseEntity<String> draft(@PathVariable long no, EditLock lock) throws Exception {
            lock.keep();
            return INSIDE.get().run();
        }
    }

    private EditServer server;
    private Person kim;
    private Person lee;
    private String path;

    @BeforeEach
    void start() {
        server = closing(
                new EditServer(pool, Locks.builder(lockPool), EditLockSettings.ofTypes("account"), Application.class));
        kim = server.person("kim");
        lee = server.person("lee");
        path = "/account/" + account;
        INSIDE.set(() -> ResponseEntity.ok("done"));
    }

    private Person.Answer save(String token) {
        return kim.send("POST", "//accounts/" + account, "", "Lock-Token", token);
    }

    @Test
    void change_and_release_come_with_one_commit() throws Exception {
        String token = kim.take(path, TAB).token();
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        INSIDE.set(() -> {
            inside.countDown();
            await(goOn);
            return ResponseEntity.ok("done");
        });
        Future<Person.Answer> saving = threads.submit(() -> save(token));
        await(inside);
        assertThat(balance()).isZero();
        assertThat(isHeld(lock)).isTrue();
        lee.take(path, TAB).isProblem(423, "held");
        goOn.countDown();
        result(saving).is(200);
        assertThat(isHeld(lock)).isFalse();
        assertThat(balance()).isOne();
        lee.take(path, TAB).is(201);
    }

    @Test
    void lock_that_runs_out_while_the_handler_saves_is_not_taken_before_the_commit() throws Exception {
        String token = kim.take(path, TAB).token();
        LockId lockId = new LockId(token);
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        INSIDE.set(() -> {
            inside.countDown();
            await(goOn);
            return ResponseEntity.ok("done");
        });
        locks.manager().leave(lockId, Duration.ofSeconds(5)); // to be checked in time on a busy machine
        Future<Person.Answer> saving = threads.submit(() -> save(token));
        await(inside);
        awaitLapse(lock);
        Future<Integer> next = threads.submit(() -> {
            await("the lock for lee", () -> lee.take(path, TAB).status() == 201);
            return balance();
        });
        lee.take(path, "tab-0002").is(423);
        goOn.countDown();
        result(saving).is(200);
        assertThat(result(next)).isOne(); // never the old balance with the lock in hand
    }

    @Test
    void nothing_is_changed_when_the_handler_fails_and_the_lock_stays() {
        String token = kim.take(path, TAB).token();
        INSIDE.set(() -> {
            throw new DomainSaysNo();
        });
        save(token).is(409);
        assertThat(balance()).isZero();
        INSIDE.set(() -> ResponseEntity.unprocessableContent().body("no"));
        save(token).is(422);
        assertThat(balance()).isZero();
        kim.renew(path, token).is(200);
    }

    @Test
    void nothing_is_changed_by_one_whose_lock_was_taken_over() {
        Person.Answer taken = kim.take(path, TAB);
        kim.takeOver(path, taken.fence(), "tab-0002").is(201);
        assertThat(save(taken.token()).isProblem(423, "held").json()).containsEntry("mine", true);
        assertThat(balance()).isZero();
    }

    @Test
    void take_over_waits_for_a_save_that_has_begun_or_gives_up() throws Exception {
        Person.Answer taken = kim.take(path, TAB);
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        INSIDE.set(() -> {
            inside.countDown();
            await(goOn);
            return ResponseEntity.ok("done");
        });
        Future<Person.Answer> saving = threads.submit(() -> save(taken.token()));
        await(inside);
        Person.Answer busy = kim.takeOver(path, taken.fence(), "tab-0002").isProblem(503, "unavailable");
        assertThat(busy.header("retry-after")).isEqualTo("5");
        goOn.countDown();
        result(saving).is(200);
        assertThat(balance()).isOne();
        kim.takeOver(path, taken.fence(), "tab-0002").isProblem(412, "fence-moved");
    }

    /** On MySQL, MariaDB and H2 a change of the schema commits, and ends the guard of the request. */
    @ParameterizedTest
    @ValueSource(strings = {"", "/draft"})
    void nothing_is_changed_by_one_whose_lock_was_taken_over_after_an_implicit_commit(String handler) {
        Person.Answer taken = kim.take(path, TAB);
        String table = "ddl_" + account + (handler.isEmpty() ? "" : "_draft");
        INSIDE.set(() -> {
            jdbc.execute("CREATE TABLE " + table + " (id INT)");
            if (!name.equals("postgresql")) {
                jdbc.execute("DROP TABLE " + table);
                kim.takeOver(path, taken.fence(), "tab-0002").is(201);
            }
            add(10);
            return ResponseEntity.ok("done");
        });

        Person.Answer saved = kim.send("POST", "//accounts/" + account + handler, "", "Lock-Token", taken.token());

        int before = handler.isEmpty() ? 1 : 0;
        if (name.equals("postgresql")) {
            saved.is(200);
            assertThat(balance()).isEqualTo(before + 10);
        } else {
            saved.isProblem(423, "held");
            assertThat(balance())
                    .as("what the handler wrote before the change of the schema")
                    .isEqualTo(before);
        }
    }
}
