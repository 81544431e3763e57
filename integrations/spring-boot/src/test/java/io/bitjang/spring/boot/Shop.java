// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import static org.springframework.security.config.Customizer.withDefaults;

import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.spring.web.RequiresEditLock;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.springframework.boot.actuate.web.exchanges.InMemoryHttpExchangeRepository;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** A whole application with a web server, sign-in and actuator; what a test needs of it over HTTP. */
final class Shop implements AutoCloseable {

    private final ConfigurableApplicationContext context;
    private final HttpClient http = HttpClient.newHttpClient();

    private Shop(ConfigurableApplicationContext context) {
        this.context = context;
    }

    static Shop open(String... properties) {
        List<String> all = new ArrayList<>(List.of(
                "server.port=0",
                "spring.main.banner-mode=off",
                "spring.application.name=shop",
                "spring.flyway.enabled=false",
                "spring.liquibase.enabled=false",
                "spring.datasource.url=" + Apps.h2(),
                "management.endpoints.web.exposure.include=*",
                "management.endpoint.health.show-details=always",
                "bitjang.health.timeout=30s", // it is up on a busy machine, too
                "spring.data.jpa.repositories.enabled=false",
                "spring.autoconfigure.exclude=org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration",
                "bitjang.edit-locks.types=order"));
        all.addAll(Arrays.asList(properties));
        return new Shop(new SpringApplicationBuilder(Application.class)
                .properties(all.toArray(String[]::new))
                .run());
    }

    <T> T bean(Class<T> type) {
        return context.getBean(type);
    }

    HttpResponse<String> get(String path) {
        return send(request(path).GET());
    }

    HttpResponse<String> post(String path, String json) {
        return send(request(path)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(json)));
    }

    HttpResponse<String> send(HttpRequest.Builder request) {
        try {
            return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    HttpRequest.Builder request(String path) {
        String port = context.getEnvironment().getProperty("local.server.port");
        String user = Base64.getEncoder().encodeToString("ann:secret".getBytes(StandardCharsets.UTF_8));
        return HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
                .header("Authorization", "Basic " + user);
    }

    @Override
    public void close() {
        context.close();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Pages.class)
    static class Application {

        @Bean
        SecurityFilterChain security(HttpSecurity http) throws Exception {
            return http.authorizeHttpRequests(each -> each.anyRequest().authenticated())
                    .csrf(csrf -> csrf.ignoringRequestMatchers("/actuator/**", "/bitjang/**", "/orders/**"))
                    .httpBasic(withDefaults())
                    .build();
        }

        /** Keeps requests with their headers, for the actuator. */
        @Bean
        InMemoryHttpExchangeRepository exchanges() {
            return new InMemoryHttpExchangeRepository();
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

    @RestController
    static class Pages {

        private final Locks locks;

        Pages(Locks locks) {
            this.locks = locks;
        }

        @GetMapping("/thread")
        String thread() {
            return locks.lease("on-a-request")
                    .call(Wait.none(), () -> Thread.currentThread().toString());
        }

        @PostMapping("/orders/{no}")
        @RequiresEditLock(type = "order", id = "{no}")
        String save(@PathVariable String no) {
            return "saved " + no;
        }
    }
}
