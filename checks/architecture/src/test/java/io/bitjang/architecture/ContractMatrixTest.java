// SPDX-License-Identifier: Apache-2.0
package io.bitjang.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMethods;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;
import org.junit.platform.commons.annotation.Testable;

/** A promise is kept on every database or it is not kept: no contract is left out, and no test is. */
class ContractMatrixTest {
    private static final String CONTRACTS = "io.bitjang.testkit.contract";
    private static final List<String> DATABASES = List.of("h2", "mariadb", "mysql", "postgresql");
    private static final JavaClasses CLASSES = Modules.contractsAndTheirTests();

    @Test
    void every_contract_runs_on_every_database() {
        List<JavaClass> contracts = contracts().toList();
        assertThat(contracts).isNotEmpty();
        List<String> missing = contracts.stream()
                .flatMap(contract -> DATABASES.stream()
                        .filter(database -> !isRunOn(database, contract))
                        .map(database -> testOf(contract, database) + " extends " + contract.getSimpleName()))
                .toList();
        assertThat(missing).as("classes that run a contract on a database").isEmpty();
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
