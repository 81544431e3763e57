// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.LockManager;
import io.bitjang.spi.LockEvent;
import io.bitjang.spi.LockListener;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.boot.jdbc.test.autoconfigure.AutoConfigureJdbc;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.stereotype.Controller;

/** The snippets of docs/spring-boot.md. */
class BootSnippetsTest {

    @Test
    void a_pool_for_the_locks() {
        Apps.plain()
                .withUserConfiguration(LockPool.class)
                .withPropertyValues("shop.url=" + Apps.h2())
                .run(context -> {
                    assertThat(context.getBean(LockConnections.class).own()).isInstanceOf(HikariDataSource.class);
                    context.getBean(LockManager.class).tryLock("order", "42");
                });
    }

    @Test
    void a_listener() {
        Apps.plain()
                .withUserConfiguration(Alarms.class)
                .run(context -> assertThat(context.getBean(LockListener.class))
                        .satisfies(listener -> listener.on(
                                new LockEvent(LockEvent.Kind.LOST, io.bitjang.LockName.of("job"), 1, "me", "test")))
                        .satisfies(listener ->
                                assertThat(context.getBean(Alarms.class).pager).hasSize(1)));
    }

    @Configuration(proxyBeanMethods = false)
    static class LockPool {

        @Bean
        DataSource dataSource(@Value("${shop.url}") String url) {
            return new SimpleDriverDataSource(new org.h2.Driver(), url);
        }

        @Bean(defaultCandidate = false)
        @BitjangDataSource
        DataSource lockDataSource(@Value("${shop.url}") String url) {
            return DataSourceBuilder.create()
                    .type(HikariDataSource.class)
                    .url(url)
                    .build();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Alarms {

        final List<String> pager = new CopyOnWriteArrayList<>();

        @Bean
        LockListener alarm() {
            return event -> {
                if (event.kind() == LockEvent.Kind.LOST) {
                    pager.add(event.name() + " was lost: " + event.detail());
                }
            };
        }
    }

    @Controller
    static class OrderPages {}

    /** Its annotations are tried by WebLayerTest. */
    @SuppressWarnings("ClassCanBeStatic")
    @WebMvcTest(OrderPages.class)
    @AutoConfigureJdbc
    @ImportAutoConfiguration({BitjangAutoConfiguration.class, BitjangWebAutoConfiguration.class})
    class OrderPagesTest {}
}
