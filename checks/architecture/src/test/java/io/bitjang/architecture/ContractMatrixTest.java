// SPDX-License-Identifier: Apache-2.0
package io.bitjang.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMethods;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import io.bitjang.testkit.Alone;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;
import org.junit.platform.commons.annotation.Testable;

/**
 * A promise is kept on every database or it is not kept: no contract is left out, and no test is. What is the engine's alone, and would
 * be the same whatever statements are sent, is proved once where the database polls (H2) and once where it blocks and notifies
 * (PostgreSQL).
 */
class ContractMatrixTest {
    private static final String CONTRACTS = "io.bitjang.testkit.contract";
    private static final List<String> DATABASES = List.of("h2", "mariadb", "mysql", "postgresql");
    private static final List<String> DATABASES_OF_THE_ENGINE = List.of("h2", "postgresql");

    /** The contracts that are about the engine only, and why no statement of a dialect has a part in them. */
    private static final Map<String, String> ENGINE_ONLY = Map.ofEntries(
            Map.entry("AsyncContract", "stages and the threads they complete on: Waiter and Workers"),
            Map.entry("BadInputContract", "arguments are refused in Java, before anything is sent"),
            Map.entry(
                    "ClosedContract",
                    "what a closed instance refuses; LeaseContract frees its leases on every database"),
            Map.entry("EmptyPoolContract", "the failure is the pool's: no statement is sent"),
            Map.entry(
                    "LeaseLossContract",
                    "state, callbacks and maximum hold of LeaseHandle; LeaseTimeContract has the rest"),
            Map.entry("ListenerContract", "how Events calls listeners; EventsContract has what the statements answer"),
            Map.entry(
                    "PassingOnFreelyContract",
                    "no statement is sent; PassingOnContract has the fences that are set aside"),
            Map.entry(
                    "QueueContract",
                    "WaitQueue inside a process; WaitingContract and LineContract have other processes"),
            Map.entry("QuietContract", "when timers, Workers and gates send nothing any more, not what they send"),
            Map.entry(
                    "RenewerContract", "rounds, failures and deadlines of Renewer; RenewalContract has the statements"),
            Map.entry("SessionDeadlockContract", "circles inside a process are found by Turns without the server"),
            Map.entry(
                    "SessionSilenceContract", "Watch and deadlines on a database that a hook silences, not the driver"),
            Map.entry("VirtualThreadsContract", "only frames of the library count, not those of a driver"),
            Map.entry(
                    "WaitingDeadlineContract",
                    "deadlines are kept by the timer while a hook or the pool stops the database"));

    private static final JavaClasses CLASSES = Modules.contractsAndTheirTests();

    @Test
    void every_contract_runs_on_every_database_or_is_known_to_be_the_engines() {
        List<JavaClass> contracts = contracts().toList();
        assertThat(contracts).isNotEmpty();
        List<String> missing = contracts.stream()
                .flatMap(contract -> databasesOf(contract).stream()
                        .filter(database -> !isRunOn(database, contract))
                        .map(database -> testOf(contract, database) + " extends " + contract.getSimpleName()))
                .toList();
        assertThat(missing).as("classes that run a contract on a database").isEmpty();
    }

    @Test
    void contract_of_the_engine_runs_on_two_databases_and_no_other() {
        List<String> needless = contracts()
                .flatMap(contract -> DATABASES.stream()
                        .filter(database -> !databasesOf(contract).contains(database))
                        .map(database -> testOf(contract, database)))
                .filter(CLASSES::contain)
                .toList();
        assertThat(needless)
                .as("classes that run a contract of the engine once more")
                .isEmpty();
    }

    @Test
    void every_contract_of_the_engine_exists_and_has_its_reason() {
        assertThat(contracts().map(JavaClass::getSimpleName)).containsAll(ENGINE_ONLY.keySet());
        assertThat(ENGINE_ONLY.values()).doesNotContain("").doesNotHaveDuplicates();
    }

    @Test
    void every_contract_can_be_found_by_its_name() {
        assertThat(CLASSES.stream()
                        .filter(type -> type.getPackageName().startsWith(CONTRACTS))
                        .filter(JavaClass::isTopLevelClass)
                        .filter(ContractMatrixTest::hasTests))
                .allMatch(type -> type.getPackageName().equals(CONTRACTS)
                        && type.getSimpleName().endsWith("Contract")
                        && isAbstract(type));
    }

    /** H2's part is among the core's own tests. */
    @Test
    void simulated_table_is_compared_with_every_database() {
        assertThat(DATABASES.stream().filter(database -> !database.equals("h2")))
                .hasSize(3)
                .allMatch(database -> isRunOn(database, CLASSES.get("io.bitjang.contracts.simulation.SimTable")));
        assertThat(Modules.allTests().contain("io.bitjang.internal.sql.SimTableTest"))
                .isTrue();
    }

    @Test
    void every_contract_promises_something() {
        assertThat(contracts()).allMatch(ContractMatrixTest::hasTests);
    }

    @Test
    void every_test_is_in_a_class_that_the_build_runs() {
        assertThat(Modules.allTests().stream()
                        .filter(JavaClass::isTopLevelClass)
                        .filter(type -> !isAbstract(type) && hasTests(type))
                        .map(JavaClass::getSimpleName))
                .contains("ContractMatrixTest")
                .allMatch(name -> name.endsWith("Test"));
    }

    /** Only those of checks/contracts are run again by checks/alone; elsewhere they would never run. */
    @Test
    void tests_that_must_run_alone_are_in_the_module_that_runs_them_so() {
        String[] there = {"io.bitjang.testkit.contract..", "io.bitjang.contracts.."};
        JavaClasses tests = Modules.allTests();
        noClasses()
                .that()
                .resideOutsideOfPackages(there)
                .should()
                .beAnnotatedWith(Alone.class)
                .check(tests);
        noMethods()
                .that()
                .areDeclaredInClassesThat()
                .resideOutsideOfPackages(there)
                .should()
                .beAnnotatedWith(Alone.class)
                .check(tests);
        assertThat(tests.stream().flatMap(type -> type.getMethods().stream()))
                .anyMatch(method -> method.isAnnotatedWith(Alone.class));
    }

    @Test
    void no_test_is_switched_off() {
        JavaClasses tests = Modules.allTests();
        noClasses().should().beMetaAnnotatedWith(Disabled.class).check(tests);
        noMethods().should().beMetaAnnotatedWith(Disabled.class).check(tests);
    }

    private static Stream<JavaClass> contracts() {
        return CLASSES.stream()
                .filter(type -> type.getPackageName().equals(CONTRACTS))
                .filter(type -> type.getSimpleName().endsWith("Contract") && isAbstract(type));
    }

    private static List<String> databasesOf(JavaClass contract) {
        return ENGINE_ONLY.containsKey(contract.getSimpleName()) ? DATABASES_OF_THE_ENGINE : DATABASES;
    }

    private static boolean isRunOn(String database, JavaClass contract) {
        String name = testOf(contract, database);
        return CLASSES.contain(name)
                && CLASSES.get(name).isAssignableTo(contract.getName())
                && !isAbstract(CLASSES.get(name));
    }

    private static String testOf(JavaClass contract, String database) {
        String promise = contract.getSimpleName().replaceFirst("Contract$", "");
        return "io.bitjang.contracts." + database + "." + promise + "Test";
    }

    private static boolean hasTests(JavaClass type) {
        return type.getAllMethods().stream().anyMatch(ContractMatrixTest::isTest);
    }

    private static boolean isTest(JavaMethod method) {
        return method.isMetaAnnotatedWith(Testable.class);
    }

    private static boolean isAbstract(JavaClass type) {
        return type.getModifiers().contains(JavaModifier.ABSTRACT);
    }
}
