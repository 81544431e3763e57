// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.work;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.LockName;
import io.bitjang.LogLines;
import io.bitjang.spi.LockEvent;
import io.bitjang.spi.LockEvent.Kind;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class EventsTest {

    private static final LockName JOB = LockName.of("job");

    private final Logger logger = Logger.getLogger("io.bitjang.events");
    private final List<LockEvent> heard = new ArrayList<>();
    private LogLines logged;

    @BeforeEach
    void listen() {
        logged = LogLines.events();
    }

    @AfterEach
    void stop() {
        logged.close();
    }

    @Test
    void every_name_is_logged_even_if_nobody_listens() {
        new Events(List.of()).tell(Kind.LOST, List.of(JOB, LockName.of("order", "42")), 7, "kim", "it expired");

        assertThat(logged.records()).hasSize(2).allSatisfy(event -> {
            assertThat(event.getLevel()).isEqualTo(Level.FINE);
            assertThat(event.getMessage()).contains("LOST", "7", "kim", "it expired");
        });
        assertThat(logged.lines().get(1)).contains("order", "42");
    }

    @Test
    void nothing_is_logged_unless_it_is_asked_for_and_listeners_hear_all_the_same() {
        logger.setLevel(Level.INFO);

        new Events(List.of(heard::add)).tell(Kind.ACQUIRED, List.of(JOB), 1, "kim", null);

        assertThat(logged.records()).isEmpty();
        assertThat(heard).hasSize(1);
    }

    @Test
    void text_with_braces_is_logged_as_it_is() {
        new Events(List.of()).tell(Kind.ACQUIRED, List.of(LockName.of("{0} {1}")), 1, "{0}", null);

        assertThat(logged.records()).singleElement().satisfies(event -> {
            assertThat(event.getMessage()).contains("{0} {1}");
            assertThat(Objects.requireNonNullElse(event.getParameters(), new Object[0]))
                    .isEmpty();
        });
    }

    @Test
    void log_or_listener_that_fails_keeps_nobody_else_from_hearing() {
        Handler failing = new Handler() {
            @Override
            public void publish(LogRecord event) {
                throw new IllegalStateException("the disk is full");
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        logger.addHandler(failing);
        Logger warnings = Logger.getLogger("io.bitjang");
        warnings.setUseParentHandlers(false);
        try {
            new Events(List.of(
                            event -> {
                                throw new AssertionError("a listener's own trouble");
                            },
                            heard::add))
                    .tell(Kind.RELEASED, List.of(JOB), 1, "kim", null);
        } finally {
            logger.removeHandler(failing);
            warnings.setUseParentHandlers(true);
        }

        assertThat(heard).extracting(LockEvent::kind).containsExactly(Kind.RELEASED);
    }

    @Test
    void log_that_fails_to_say_whether_it_is_wanted_keeps_nobody_from_hearing() {
        System.Logger failing = (System.Logger) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {System.Logger.class}, (proxy, method, arguments) -> {
                    throw new LinkageError("the log's own trouble with " + method.getName());
                });

        new Events(List.of(heard::add), failing).tell(Kind.RELEASED, List.of(JOB), 1, "kim", null);
        new Events(List.of(), failing).tell(Kind.RELEASED, List.of(JOB), 1, "kim", null);

        assertThat(heard).hasSize(1);
    }
}
