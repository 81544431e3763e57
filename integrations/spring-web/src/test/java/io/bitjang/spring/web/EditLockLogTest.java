// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.Locks;
import io.bitjang.testkit.ChildJvm;
import io.bitjang.testkit.TestDatabases;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** A lock id stands in no log line, however much is logged. In a JVM of its own, where everything is logged. */
class EditLockLogTest {

    private static final Duration PATIENCE = Duration.ofSeconds(120);

    @Test
    void lock_id_stands_in_no_log_line() {
        try (ChildJvm child = ChildJvm.of(EditLockLogTest.class)
                .property("org.apache.commons.logging.LogFactory", "org.apache.commons.logging.impl.LogFactoryImpl")
                .property("org.apache.commons.logging.Log", "org.apache.commons.logging.impl.Jdk14Logger")
                .start()) {
            assertThat(child.readLineStartingWith("from Spring: ", PATIENCE)).isEqualTo("from Spring: true");
            assertThat(child.readLineStartingWith("from the server: ", PATIENCE))
                    .isEqualTo("from the server: true");
            assertThat(child.readLineStartingWith("with a secret: ", PATIENCE)).isEqualTo("with a secret: []");
        }
    }

    static class Application {

        @Bean
        Orders orders() {
            return new Orders();
        }
    }

    @RestController
    static class Orders {

        @PostMapping("/orders/{no}")
        @RequiresEditLock(type = "order", id = "{no}")
        String save(@PathVariable String no, EditLock lock) {
            return no;
        }
    }

    /** Does everything once with a lock id, and says what was logged with it. */
    public static void main(String[] args) {
        Queue<String> lines = new ConcurrentLinkedQueue<>();
        Logger root = Logger.getLogger("");
        for (Handler handler : root.getHandlers()) {
            root.removeHandler(handler);
        }
        root.setLevel(Level.FINE); // DEBUG
        root.addHandler(new Handler() {
            private final SimpleFormatter formatter = new SimpleFormatter();

            @Override
            public void publish(LogRecord line) {
                lines.add(formatter.format(line));
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        });
        String secret;
        try (HikariDataSource pool = TestDatabases.h2().pool(5);
                EditServer server = new EditServer(
                        pool, Locks.builder(pool), EditLockSettings.ofTypes("order"), Application.class)) {
            Person kim = server.person("kim");
            Person lee = server.person("lee");
            secret = kim.take("/order/1", "tab-0001").token();
            kim.take("/order/1", "tab-0001", "Lock-Token", secret).is(200);
            kim.renew("/order/1", secret).is(200);
            lee.renew("/order/1", secret).is(403);
            kim.renew("/order/1", secret + "A").is(400);
            kim.renew("/order/2", secret).is(403);
            kim.leave("/order/1", secret).is(204);
            kim.send("POST", "/order/1/leave", "{\"token\":\"" + secret + "\"}", "Content-Type", "text/plain")
                    .is(204);
            String form = "lid=" + secret;
            lee.send("POST", "//orders/1", form, "Content-Type", "application/x-www-form-urlencoded")
                    .is(403);
            kim.send("POST", "//orders/1", form, "Content-Type", "application/x-www-form-urlencoded")
                    .is(200);
            kim.send("POST", "//orders/1", form, "Content-Type", "application/x-www-form-urlencoded")
                    .is(410);
            kim.release("/order/1", secret).is(204);
        }
        // the table's own part of it, too
        String random = Base64.getUrlEncoder()
                .withoutPadding()
                .encodeToString(Arrays.copyOfRange(Base64.getUrlDecoder().decode(secret), 9, 25));
        System.out.println("from Spring: " + lines.stream().anyMatch(line -> line.contains("/orders/1")));
        System.out.println("from the server: " + lines.stream().anyMatch(line -> line.contains("org.apache.")));
        System.out.println("with a secret: "
                + lines.stream()
                        .filter(line -> line.contains(secret) || line.contains(random))
                        .map(line -> line.replace('\n', ' '))
                        .toList());
    }
}
