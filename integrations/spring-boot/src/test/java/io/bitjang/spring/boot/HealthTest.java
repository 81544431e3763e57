// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.testkit.TcpProxy;
import io.bitjang.testkit.TestDatabase;
import io.bitjang.testkit.TestDatabases;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.actuate.endpoint.HealthEndpoint;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroups;
import org.springframework.boot.health.autoconfigure.actuate.endpoint.AvailabilityProbesAutoConfiguration;
import org.springframework.boot.health.autoconfigure.actuate.endpoint.HealthEndpointAutoConfiguration;
import org.springframework.boot.health.autoconfigure.application.AvailabilityHealthContributorAutoConfiguration;
import org.springframework.boot.health.autoconfigure.contributor.HealthContributorAutoConfiguration;
import org.springframework.boot.health.autoconfigure.registry.HealthContributorRegistryAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

class HealthTest {

    /** Where it must be up, whatever else the machine does. */
    private static final String PATIENT = "bitjang.health.timeout=30s";

    static List<String> servers() {
        return TestDatabases.selected().stream()
                .map(name -> name.equals("h2") ? "h2-server" : name)
                .toList();
    }

    @Test
    void it_is_up_while_the_table_can_be_read() {
        Apps.plain()
                .withPropertyValues(PATIENT)
                .run(context -> assertThat(context.getBean(LocksHealthIndicator.class)
                                .health()
                                .getStatus())
                        .isEqualTo(Status.UP));
    }

    @Test
    void it_can_be_switched_off() {
        Apps.plain()
                .withPropertyValues("management.health.bitjang.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(LocksHealthIndicator.class));
    }

    @Test
    void it_is_shown_and_does_not_decide_about_readiness() {
        Apps.plain()
                .withConfiguration(AutoConfigurations.of(
                        HealthContributorAutoConfiguration.class,
                        HealthContributorRegistryAutoConfiguration.class,
                        HealthEndpointAutoConfiguration.class,
                        AvailabilityHealthContributorAutoConfiguration.class,
                        AvailabilityProbesAutoConfiguration.class,
                        org.springframework.boot.autoconfigure.availability.ApplicationAvailabilityAutoConfiguration
                                .class))
                .withPropertyValues(
                        PATIENT,
                        "management.endpoints.web.exposure.include=*",
                        "management.endpoint.health.probes.enabled=true")
                .run(context -> {
                    assertThat(context.getBean(HealthEndpoint.class)
                                    .healthForPath("bitjang")
                                    .getStatus())
                            .isEqualTo(Status.UP);
                    assertThat(context.getBean(HealthEndpointGroups.class)
                                    .get("readiness")
                                    .isMember("bitjang"))
                            .isFalse();
                });
    }

    @ParameterizedTest
    @MethodSource("servers")
    @Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void it_is_down_in_time_when_the_database_does_not_answer_and_up_again_afterwards(String name) {
        TestDatabase database = TestDatabases.byName(name);
        try (TcpProxy proxy = TcpProxy.to(database)) {
            Apps.on(database.through(proxy.port()))
                    .withPropertyValues(
                            "bitjang.schema=create",
                            "bitjang.health.timeout=500ms",
                            // whoever waits for the database itself waits for half a minute
                            "spring.datasource.hikari.connection-timeout=30000",
                            "spring.datasource.hikari.validation-timeout=30000")
                    .run(context -> {
                        LocksHealthIndicator indicator = context.getBean(LocksHealthIndicator.class);
                        awaitUp(indicator);
                        proxy.stall();
                        for (int visit = 0; visit < 3; visit++) {
                            long began = System.nanoTime();
                            Health health = indicator.health();
                            assertThat(Duration.ofNanos(System.nanoTime() - began))
                                    .isLessThan(Duration.ofSeconds(10));
                            assertThat(health.getStatus()).isEqualTo(Status.DOWN);
                        }
                        assertThat(Thread.getAllStackTraces().keySet())
                                .filteredOn(thread -> thread.getName().startsWith("bitjang-health-"))
                                .hasSizeLessThanOrEqualTo(1);
                        proxy.resume();
                        awaitUp(indicator);
                    });
        }
    }

    /** Half a second may be too short for one look on a busy machine, but not for all. */
    private static void awaitUp(LocksHealthIndicator indicator) throws InterruptedException {
        long until = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        Status status = indicator.health().getStatus();
        while (status != Status.UP && System.nanoTime() < until) {
            Thread.sleep(20);
            status = indicator.health().getStatus();
        }
        assertThat(status).isEqualTo(Status.UP);
    }
}
