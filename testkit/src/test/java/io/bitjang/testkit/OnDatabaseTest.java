// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.testkit.engine.EventConditions.finishedWithFailure;
import static org.junit.platform.testkit.engine.EventConditions.skippedWithReason;
import static org.junit.platform.testkit.engine.TestExecutionResultConditions.message;

import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.platform.testkit.engine.EngineExecutionResults;
import org.junit.platform.testkit.engine.EngineTestKit;

class OnDatabaseTest {

    private static final String CHOICE = "bitjang.testkit.databases";
    private final Optional<String> given = Optional.ofNullable(System.getProperty(CHOICE));

    @AfterEach
    void restore_the_choice() {
        given.ifPresentOrElse(value -> System.setProperty(CHOICE, value), () -> System.clearProperty(CHOICE));
    }

    @Test
    void all_four_databases_are_chosen_by_default() {
        System.clearProperty(CHOICE);
        assertThat(TestDatabases.selected()).containsExactlyInAnyOrder("postgresql", "mysql", "mariadb", "h2");
    }

    @Test
    void test_gets_the_database_of_its_class() {
        System.setProperty(CHOICE, "h2");
        run(OnH2.class).testEvents().assertStatistics(stats -> stats.started(1).succeeded(1));
    }

    @Test
    void class_inherits_the_tests_and_names_the_database() {
        System.setProperty(CHOICE, "h2");
        run(InheritsFromContract.class)
                .testEvents()
                .assertStatistics(stats -> stats.started(1).succeeded(1));
    }

    @Test
    void class_of_a_database_that_is_left_out_is_skipped_with_the_reason() {
        System.setProperty(CHOICE, "H2, mariadb");
        EngineExecutionResults results = run(OnPostgresql.class);

        results.testEvents().assertStatistics(stats -> stats.started(0));
        results.containerEvents()
                .assertThatEvents()
                .haveExactly(
                        1,
                        skippedWithReason(
                                "postgresql is not among the databases of bitjang.testkit.databases=h2,mariadb"));
    }

    @Test
    void unknown_database_in_the_annotation_fails_the_class() {
        run(OnOracle.class)
                .containerEvents()
                .assertThatEvents()
                .haveExactly(1, finishedWithFailure(message(text -> text.contains("OnOracle"))));
    }

    @Test
    void unknown_database_in_the_choice_is_named() {
        System.setProperty(CHOICE, "h2,oracle");
        assertThatThrownBy(TestDatabases::selected)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'oracle'");
    }

    private static EngineExecutionResults run(Class<?> test) {
        return EngineTestKit.engine("junit-jupiter")
                .selectors(selectClass(test))
                .execute();
    }

    @OnDatabase("h2")
    static class OnH2 {
        private final TestDatabase ofConstructor;
        private Optional<TestDatabase> ofBeforeEach = Optional.empty();

        OnH2(TestDatabase database) {
            ofConstructor = database;
        }

        @BeforeEach
        void remember(TestDatabase database) {
            ofBeforeEach = Optional.of(database);
        }

        @Test
        void is_given_its_database(TestDatabase database) {
            assertThat(database).isSameAs(TestDatabases.h2()).isSameAs(ofConstructor);
            assertThat(ofBeforeEach).containsSame(database);
        }
    }

    abstract static class Contract {
        @Test
        void is_given_the_database_of_the_subclass(TestDatabase database) {
            assertThat(database.name()).isEqualTo("h2");
        }
    }

    @OnDatabase("h2")
    static class InheritsFromContract extends Contract {}

    @OnDatabase("postgresql")
    static class OnPostgresql {
        @Test
        void never_runs_here() {
            throw new AssertionError("PostgreSQL is not chosen");
        }
    }

    @OnDatabase("oracle")
    static class OnOracle {
        @Test
        void never_runs() {
            throw new AssertionError("there is no such database");
        }
    }
}
