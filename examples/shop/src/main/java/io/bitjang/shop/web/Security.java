// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.web;

import jakarta.servlet.DispatcherType;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;

/** Who may do what. The accounts are for a demonstration on one's own machine, and stand on the page where one signs in. */
@Configuration
class Security {

    private static final String ONLY_OURS =
            "default-src 'self'; frame-ancestors 'none'; form-action 'self'; base-uri 'none'";

    @Bean
    SecurityFilterChain chain(HttpSecurity http) throws Exception {
        return http.authorizeHttpRequests(requests -> requests.dispatcherTypeMatchers(
                                DispatcherType.FORWARD, DispatcherType.ERROR, DispatcherType.ASYNC)
                        .permitAll()
                        .requestMatchers(
                                "/", "/login", "/shop.css", "/live.js", "/icon.svg", "/bitjang/*.js", "/bitjang/*.css")
                        .permitAll()
                        .requestMatchers(
                                "/locks/**",
                                "/live/locks",
                                "/nodes/act/**",
                                "/startShipping",
                                "/shipping/*/again",
                                "/race/*/operator")
                        .hasRole("OPERATOR")
                        .anyRequest()
                        .authenticated())
                .formLogin(form -> form.loginPage("/login").defaultSuccessUrl("/"))
                .logout(logout -> logout.logoutSuccessUrl("/"))
                .exceptionHandling(refused -> refused.accessDeniedHandler(new Refused()))
                .headers(headers -> headers.contentSecurityPolicy(policy -> policy.policyDirectives(ONLY_OURS))
                        .referrerPolicy(referrer -> {}))
                .build();
    }

    /** The operator, the customer, and as many editors as the load needs. */
    @Bean
    UserDetailsService people(@Value("${shop.editors:0}") int editors) {
        Stream<UserDetails> named = Stream.of(person("operator", "OPERATOR"), person("customer", "CUSTOMER"));
        Stream<UserDetails> numbered =
                IntStream.rangeClosed(1, editors).mapToObj(i -> person("editor-" + i, "CUSTOMER"));
        List<UserDetails> all = Stream.concat(named, numbered).toList();
        // not the manager itself, which would hash each of these passwords anew, at great expense, when it is first
        // used
        return new InMemoryUserDetailsManager(all)::loadUserByUsername;
    }

    private static UserDetails person(String name, String role) {
        return User.withUsername(name).password("{noop}" + name).roles(role).build();
    }
}
