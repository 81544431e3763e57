// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import io.bitjang.Locks;
import io.bitjang.spi.LockListener;
import io.bitjang.spring.TransactionalLockManager;
import jakarta.servlet.DispatcherType;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.util.EnumSet;
import java.util.logging.Level;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.Wrapper;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configuration.EnableWebSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.csrf.CookieCsrfTokenRepository;
import org.springframework.security.web.csrf.CsrfTokenRequestAttributeHandler;
import org.springframework.util.FileSystemUtils;
import org.springframework.web.context.support.AnnotationConfigWebApplicationContext;
import org.springframework.web.filter.DelegatingFilterProxy;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;

/** A real server with Spring MVC and Spring Security: HTTP Basic, with a cross-site token for what changes something. */
final class EditServer implements AutoCloseable {

    /** What every application has; the users' passwords are their names. */
    @Configuration
    @EnableWebMvc
    @EnableWebSecurity
    @Import(EditLockConfiguration.class)
    static class Base {

        @Bean
        Locks locks(Locks.Builder builder, ObjectProvider<LockListener> listeners) {
            listeners.forEach(builder::listener);
            return builder.build();
        }

        @Bean
        DataSourceTransactionManager transactionManager(DataSource business) {
            return new DataSourceTransactionManager(business);
        }

        @Bean
        JdbcTemplate jdbcTemplate(DataSource business) {
            return new JdbcTemplate(business);
        }

        @Bean
        TransactionalLockManager lockManager(Locks locks, DataSource business) {
            return new TransactionalLockManager(locks.manager(), business);
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
        UserDetailsService users() {
            return name -> User.withUsername(name)
                    .password(name)
                    .roles(name.equals("boss") ? "BOSS" : "USER")
                    .build();
        }

        /** Everyone gets through: what needs a person says so itself. */
        @Bean
        SecurityFilterChain security(HttpSecurity http) throws Exception {
            return http.authorizeHttpRequests(requests -> requests.anyRequest().permitAll())
                    .httpBasic(Customizer.withDefaults())
                    .headers(headers -> headers.cacheControl(cache -> cache.disable())) // that is ours to send
                    .csrf(csrf -> csrf.csrfTokenRepository(CookieCsrfTokenRepository.withHttpOnlyFalse())
                            .csrfTokenRequestHandler(new CsrfTokenRequestAttributeHandler()))
                    .build();
        }
    }

    /** It warns of threads that end a moment later, and of what it can't look into. */
    private static final Logger LOADER = Logger.getLogger("org.apache.catalina.loader.WebappClassLoaderBase");

    private final Tomcat tomcat = new Tomcat();
    private final File folder;
    final AnnotationConfigWebApplicationContext context = new AnnotationConfigWebApplicationContext();

    EditServer(DataSource business, Locks.Builder builder, EditLockSettings settings, Class<?>... more) {
        try {
            folder = Files.createTempDirectory("edit-server").toFile();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        // made elsewhere and closed there
        context.addBeanFactoryPostProcessor(factory -> {
            factory.registerSingleton("settings", roomy(settings));
            factory.registerSingleton("business", business);
            factory.registerSingleton("builder", builder);
        });
        context.register(Base.class);
        if (more.length > 0) {
            context.register(more);
        }
        LOADER.setLevel(Level.SEVERE);
        tomcat.setBaseDir(folder.getPath());
        tomcat.setPort(0);
        tomcat.setSilent(true);
        Context web = tomcat.addContext("", folder.getPath());
        Wrapper servlet = Tomcat.addServlet(web, "mvc", new DispatcherServlet(context));
        servlet.setAsyncSupported(true);
        servlet.setLoadOnStartup(1);
        web.addServletMappingDecoded("/", "mvc");
        filter(web, "springSecurityFilterChain");
        try {
            tomcat.start();
            tomcat.getConnector();
        } catch (LifecycleException e) {
            throw new IllegalStateException(e);
        }
        if (!context.isActive()) {
            close();
            throw new IllegalStateException("The application did not start");
        }
    }

    /** Tests share a database, and the same few people. */
    private static EditLockSettings roomy(EditLockSettings settings) {
        EditLockSettings.Limits usual = EditLockSettings.Limits.defaults();
        return settings.limits().equals(usual) ? settings.withLimits(usual.withLocksPerPerson(100_000)) : settings;
    }

    private void filter(Context web, String bean) {
        FilterDef definition = new FilterDef();
        definition.setFilterName(bean);
        definition.setFilter(new DelegatingFilterProxy(bean) {
            @Override
            protected void initFilterBean() {
                // the servlet starts the context after the filters: look the bean up with the first request
            }

            @Override
            protected AnnotationConfigWebApplicationContext findWebApplicationContext() {
                return context;
            }
        });
        definition.setAsyncSupported("true");
        web.addFilterDef(definition);
        FilterMap map = new FilterMap();
        map.setFilterName(bean);
        map.addURLPattern("/*");
        EnumSet.of(DispatcherType.REQUEST, DispatcherType.ASYNC, DispatcherType.ERROR)
                .forEach(type -> map.setDispatcher(type.name()));
        web.addFilterMap(map);
    }

    URI uri(String path) {
        return URI.create("http://localhost:" + tomcat.getConnector().getLocalPort() + path);
    }

    Locks locks() {
        return context.getBean(Locks.class);
    }

    Person anybody() {
        return new Person(this, null);
    }

    Person person(String name) {
        return new Person(this, name);
    }

    @Override
    public void close() {
        try {
            context.close();
            tomcat.stop();
            tomcat.destroy();
        } catch (LifecycleException e) {
            throw new IllegalStateException(e);
        } finally {
            FileSystemUtils.deleteRecursively(folder);
        }
    }
}
