// SPDX-License-Identifier: Apache-2.0
package io.bitjang.browser.app;

import static org.springframework.security.config.Customizer.withDefaults;

import io.bitjang.LockData;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.admin.LockAdmin;
import io.bitjang.spring.TransactionalLockManager;
import io.bitjang.spring.web.EditLockConfiguration;
import io.bitjang.spring.web.EditLockPolicy;
import io.bitjang.spring.web.EditLockSettings;
import io.bitjang.spring.web.EditLockVersions;
import jakarta.servlet.DispatcherType;
import java.security.Principal;
import java.time.Duration;
import javax.sql.DataSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.CsrfConfigurer;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;

/** An application as a team would write it: notes, two people, sign-in, and edit locks. */
@SpringBootApplication
@Import(EditLockConfiguration.class)
public class NotesApplication {
    /** Short enough for a test to wait for a renewal, and long enough to be kept on a machine that stands still for a while. */
    public static final Duration LEASE = Duration.ofSeconds(12);

    /** Long enough for a page to be loaded again there. */
    public static final Duration LEAVE_GRACE = Duration.ofSeconds(6);

    @Bean
    Locks locks(DataSource dataSource) {
        return Locks.builder(dataSource).schema(Locks.Schema.CREATE).build();
    }

    @Bean
    LockAdmin lockAdmin(Locks locks) {
        return locks.admin();
    }

    @Bean
    TransactionalLockManager lockManager(Locks locks, DataSource dataSource) {
        return new TransactionalLockManager(locks.manager(), dataSource);
    }

    @Bean
    EditLockSettings editLockSettings() {
        return EditLockSettings.ofTypes("note").withLeaveGrace(LEAVE_GRACE).withLease(LEASE);
    }

    @Bean
    EditLockVersions editLockVersions(Notes notes) {
        return name -> notes.find(name.id()).map(note -> String.valueOf(note.version()));
    }

    /** Lee may take over from anybody, Kim only from herself. */
    @Bean
    EditLockPolicy editLockPolicy() {
        return new EditLockPolicy() {
            @Override
            public boolean mayEdit(Principal person, LockName name) {
                return name.type().equals("note");
            }

            @Override
            public boolean mayTakeOver(Principal person, LockData held) {
                return person.getName().equals("lee") || person.getName().equals(held.owner());
            }
        };
    }

    /** How the application is protected. */
    public enum Protection {
        /** By a form to sign in, and against forged requests as Spring does it by itself. */
        FORM,
        /** Against forged requests as Spring does it for pages made of scripts. */
        SCRIPTS,
        /** As Boot does it by itself: a form to sign in, or HTTP Basic. */
        BOOT,
        /** The same, and errors are shown to everyone. */
        BOOT_WITH_OPEN_ERRORS
    }

    @Bean
    SecurityFilterChain security(HttpSecurity http, @Value("${notes.protection:FORM}") Protection protection)
            throws Exception {
        if (protection == Protection.SCRIPTS) {
            http.csrf(CsrfConfigurer::spa);
        }
        if (protection == Protection.BOOT || protection == Protection.BOOT_WITH_OPEN_ERRORS) {
            http.httpBasic(withDefaults());
        }
        return http.authorizeHttpRequests(requests -> {
                    if (protection == Protection.BOOT_WITH_OPEN_ERRORS) {
                        requests.dispatcherTypeMatchers(DispatcherType.ERROR).permitAll();
                    }
                    requests.anyRequest().authenticated();
                })
                .formLogin(withDefaults())
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
    UserDetailsService people() {
        return new InMemoryUserDetailsManager(
                User.withUsername("kim").password("secret").roles("EDITOR").build(),
                User.withUsername("lee").password("secret").roles("EDITOR").build());
    }
}
