// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.AlreadyLockedException;
import io.bitjang.LockData;
import io.bitjang.LockName;
import io.bitjang.LockingFailException;
import io.bitjang.Locks;
import io.bitjang.NoLockException;
import io.bitjang.StaleSnapshotException;
import io.bitjang.jpa.AggregateBusyException;
import io.bitjang.jpa.VersionConflictException;
import io.bitjang.testkit.TestDatabases;
import jakarta.persistence.OptimisticLockException;
import jakarta.persistence.RollbackException;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.orm.ObjectOptimisticLockingFailureException;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.server.ResponseStatusException;

/** What the application's own handlers throw about locks becomes a problem that people understand. */
class OwnHandlersTest {

    private static HikariDataSource pool;
    private static EditServer server;

    private final LockName name = LockName.of("order", UUID.randomUUID().toString());
    private final Person kim = server.person("kim");

    static class Application {

        @Bean
        Throwing throwing(Locks locks) {
            return new Throwing(locks);
        }

        @Bean
        Own own() {
            return new Own();
        }

        @Bean
        OwnAdvice ownAdvice() {
            return new OwnAdvice();
        }
    }

    @RestController
    static class Throwing {

        private final Locks locks;

        Throwing(Locks locks) {
            this.locks = locks;
        }

        @GetMapping("/throw/{what}/{id}")
        void fail(@PathVariable String what, @PathVariable String id) {
            LockName name = LockName.of("order", id);
            RuntimeException stale = new VersionConflictException(String.class, id, 1, 2);
            throw switch (what) {
                case "held" ->
                    new AlreadyLockedException(name, locks.admin().find(name).orElseThrow(), "");
                case "lost" -> new NoLockException(name, "lost", null);
                case "snapshot" -> new StaleSnapshotException(name);
                case "database" -> new LockingFailException(name, "no answer", null);
                case "stale" -> stale;
                case "stale-translated" -> new ObjectOptimisticLockingFailureException("stale", stale);
                case "optimistic" -> new OptimisticLockingFailureException("both saved");
                case "optimistic-jpa" -> new OptimisticLockException("both saved");
                case "optimistic-commit" ->
                    new TransactionSystemException(
                            "commit", new RollbackException(new OptimisticLockException("both saved")));
                case "pessimistic" -> new CannotAcquireLockException("locked");
                case "busy" -> new AggregateBusyException(String.class, id, "busy", null);
                default -> new ResponseStatusException(HttpStatus.I_AM_A_TEAPOT);
            };
        }
    }

    @RestController
    static class Own {

        @GetMapping("/own/{id}")
        void fail(@PathVariable String id) {
            throw new LockingFailException(LockName.of("order", id), "no answer", null);
        }
    }

    /** Without an order, which is the lowest there is. */
    @RestControllerAdvice(assignableTypes = Own.class)
    static class OwnAdvice {

        @ExceptionHandler(Exception.class)
        ResponseEntity<String> all(Exception failure) {
            return ResponseEntity.status(HttpStatus.BAD_GATEWAY)
                    .body("own: " + failure.getClass().getSimpleName());
        }
    }

    @BeforeAll
    static void start() {
        pool = TestDatabases.h2().pool(5);
        server = new EditServer(pool, Locks.builder(pool), EditLockSettings.ofTypes("order"), Application.class);
    }

    @AfterAll
    static void stop() {
        server.close();
        pool.close();
    }

    private Person.Answer thrown(Person person, String what) {
        return person.get("//throw/" + what + "/" + name.id());
    }

    @Test
    void held_says_by_whom_but_only_to_people_who_are_signed_in() {
        server.locks().manager().tryLock("order", name.id(), "lee", Duration.ofMinutes(1), "why (tab tab-0001)");
        Person.Answer held = thrown(kim, "held").isProblem(423, "held");
        assertThat(held.json()).containsEntry("owner", "lee").containsEntry("note", "why");
        assertThat(held.header("retry-after")).isNotEmpty();
        assertThat(thrown(server.anybody(), "held").isProblem(423, "held").text())
                .doesNotContain("lee")
                .doesNotContain("why");
    }

    @Test
    void lost_says_whether_it_is_free_now() {
        thrown(kim, "lost").isProblem(410, "lapsed");
        server.locks().manager().tryLock("order", name.id(), "lee");
        thrown(kim, "lost").isProblem(423, "held");
        assertThat(server.locks().admin().find(name).orElseThrow()).matches(LockData::held);
    }

    @ParameterizedTest
    @ValueSource(strings = {"stale", "stale-translated"})
    void form_that_is_old_is_told(String what) {
        assertThat((String) thrown(kim, what).isProblem(412, "stale-version").get("detail"))
                .startsWith("Someone has saved this since you loaded it");
    }

    @ParameterizedTest
    @ValueSource(strings = {"optimistic", "optimistic-jpa", "optimistic-commit", "pessimistic", "busy", "snapshot"})
    void two_who_save_at_the_same_time_are_told(String what) {
        Person.Answer told = thrown(kim, what).isProblem(409, "saving-now");
        assertThat((String) told.get("detail")).startsWith("Someone is saving this right now");
        assertThat(told.header("retry-after")).isEqualTo("1");
    }

    @Test
    void database_that_does_not_answer_is_told() {
        assertThat(thrown(kim, "database").isProblem(503, "unavailable").header("retry-after"))
                .isEqualTo("5");
    }

    @Test
    void other_exceptions_are_left_alone() {
        thrown(kim, "other").is(418);
    }

    @Test
    void handler_of_the_applications_own_comes_first() {
        assertThat(kim.get("//own/" + name.id()).is(502).text()).isEqualTo("own: LockingFailException");
    }
}
