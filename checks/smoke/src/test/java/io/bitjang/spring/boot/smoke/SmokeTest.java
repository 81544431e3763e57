// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot.smoke;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.security.config.Customizer.withDefaults;

import io.bitjang.LockManager;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.jpa.AggregateLocks;
import io.bitjang.spring.Locked;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.Version;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

/** What the starter promises, on Spring Boot 4.0. */
class SmokeTest {

    private static ConfigurableApplicationContext context;

    @BeforeAll
    static void start() {
        context = new SpringApplicationBuilder(Application.class)
                .properties(
                        "server.port=0",
                        "spring.flyway.locations=classpath:io/bitjang/flyway/{vendor}",
                        "spring.jpa.hibernate.ddl-auto=update",
                        "bitjang.schema=validate",
                        "bitjang.edit-locks.types=order",
                        "bitjang.health.timeout=30s", // it is up on a busy machine, too
                        "management.endpoints.web.exposure.include=*",
                        "management.endpoint.health.show-components=always",
                        "management.endpoint.locks.access=unrestricted")
                .run();
    }

    @AfterAll
    static void stop() {
        context.close();
    }

    @Test
    void this_is_boot_4_0() {
        assertThat(SpringBootVersion.getVersion()).isEqualTo("4.0.7");
    }

    @Test
    void locked_methods_and_leases_work() {
        assertThat(context.getBean(Jobs.class).write()).isTrue();
        assertThat(context.getBean(Locks.class).session("short").tryRun(() -> {}))
                .isTrue();
    }

    @Test
    void aggregates_are_locked() {
        TransactionTemplate transaction = context.getBean(TransactionTemplate.class);
        transaction.executeWithoutResult(
                status -> context.getBean(EntityManager.class).persist(new Parcel(1)));
        transaction.executeWithoutResult(
                status -> assertThat(context.getBean(AggregateLocks.class).lock(Parcel.class, 1L, Wait.none()))
                        .isNotNull());
    }

    @Test
    void the_edit_lock_is_served() {
        HttpResponse<String> taken = send(request("/bitjang/edit-locks/order/42")
                .header("Content-Type", "application/json")
                .PUT(HttpRequest.BodyPublishers.ofString("{\"clientId\": \"tab-1-0123456789\"}")));
        assertThat(taken.statusCode()).as(taken.body()).isEqualTo(201);
    }

    @Test
    void the_actuator_shows_health_meters_and_locks() {
        long fence = context.getBean(LockManager.class).tryLock("smoke", "1").fence();
        assertThat(get("/actuator/health/bitjang")).contains("UP");
        assertThat(get("/actuator/metrics/bitjang.lock.events")).contains("acquired");
        assertThat(get("/actuator/metrics/bitjang.acquire")).contains("tryLock");
        assertThat(get("/actuator/locks/smoke/1")).contains("held");
        HttpResponse<String> released = send(request("/actuator/locks/smoke/1")
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(
                        "{\"expectedFence\": " + fence + ", \"reason\": \"smoke test\"}")));
        assertThat(released.body()).contains("\"released\":true");
    }

    private static String get(String path) {
        HttpResponse<String> answer = send(request(path).GET());
        assertThat(answer.statusCode()).as(path + ": " + answer.body()).isEqualTo(200);
        return answer.body();
    }

    private static HttpRequest.Builder request(String path) {
        String user = Base64.getEncoder().encodeToString("ann:secret".getBytes(StandardCharsets.UTF_8));
        return HttpRequest.newBuilder(URI.create(
                        "http://localhost:" + context.getEnvironment().getProperty("local.server.port") + path))
                .header("Authorization", "Basic " + user);
    }

    private static HttpResponse<String> send(HttpRequest.Builder request) {
        try {
            return HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @SpringBootApplication
    @Import(Jobs.class)
    static class Application {

        @Bean
        SecurityFilterChain security(HttpSecurity http) throws Exception {
            return http.authorizeHttpRequests(each -> each.anyRequest().authenticated())
                    .csrf(csrf -> csrf.disable())
                    .httpBasic(withDefaults())
                    .build();
        }

        /** As they are: Spring would hash them with BCrypt, which costs a tenth of a second of CPU for each server and request. */
        @Bean
        PasswordEncoder passwords() {
            return new PasswordEncoder() {
                @Override
                public String encode(CharSequence password) {
                    return password.toString();
                }

                @Override
                public boolean matches(CharSequence password, String known) {
                    return known.contentEquals(password);
                }
            };
        }

        @Bean
        InMemoryUserDetailsManager people() {
            return new InMemoryUserDetailsManager(
                    User.withUsername("ann").password("secret").build());
        }
    }

    static class Jobs {

        private final Locks locks;

        Jobs(Locks locks) {
            this.locks = locks;
        }

        @Locked("smoke")
        @Transactional
        public boolean write() {
            return locks.admin()
                    .find(io.bitjang.LockName.of("smoke"))
                    .orElseThrow()
                    .held();
        }
    }

    /** Something with a version. */
    @Entity
    static class Parcel {

        @Id
        private long id;

        @Version
        private int version;

        protected Parcel() {}

        Parcel(long id) {
            this.id = id;
        }
    }
}
