// SPDX-License-Identifier: Apache-2.0
package io.bitjang.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the modules for Spring, and the adapters, need and see. */
class SpringDependenciesTest {

    private static final JavaClasses SPRING = Modules.of("integrations/spring");
    private static final JavaClasses WEB = Modules.of("integrations/spring-web");

    @ParameterizedTest
    @ValueSource(strings = {"spring", "spring-web", "spring-boot", "shedlock", "spring-integration"})
    void the_insides_of_core_and_jpa_are_nobodys_business(String module) {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.bitjang.internal..", "io.bitjang.jpa.internal..")
                .check(Modules.of("integrations/" + module));
    }

    @Test
    void spring_works_without_boot_and_without_spring_security() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.springframework.boot..", "org.springframework.security..")
                .check(SPRING);
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.springframework.boot..", "org.springframework.security..")
                .check(WEB);
    }

    @Test
    void transactions_and_locked_methods_need_neither_web_nor_jpa() {
        noClasses()
                .that()
                .resideInAnyPackage("io.bitjang.spring", "io.bitjang.spring.internal..")
                .and()
                .doNotHaveSimpleName("JpaTransactions") // asked only where JPA is there
                .and()
                .doNotHaveSimpleName("JtaTransactions") // asked only where JTA is there
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "io.bitjang.spring.web..",
                        "io.bitjang.spring.data..",
                        "io.bitjang.jpa..",
                        "jakarta..",
                        "org.hibernate..",
                        "org.springframework.data..",
                        "org.springframework.web..")
                .check(SPRING);
    }

    @Test
    void the_edit_lock_over_http_sees_what_applications_see_of_spring() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.bitjang.spring.internal..", "io.bitjang.spring.data..", "io.bitjang.jpa..")
                .check(WEB);
    }

    @Test
    void the_adapter_for_shedlock_sees_core_and_shedlock() {
        classes()
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(
                        "io.bitjang",
                        "io.bitjang.admin",
                        "io.bitjang.spi",
                        "io.bitjang.shedlock..",
                        "java..",
                        "net.javacrumbs.shedlock..",
                        "org.jspecify.annotations..",
                        "org.slf4j..")
                .check(Modules.of("integrations/shedlock"));
    }

    @Test
    void the_adapter_for_spring_integration_sees_core_and_spring() {
        classes()
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(
                        "io.bitjang",
                        "io.bitjang.admin",
                        "io.bitjang.spi",
                        "io.bitjang.spring.integration..",
                        "java..",
                        "org.springframework..",
                        "org.apache.commons.logging..",
                        "org.jspecify.annotations..")
                .check(Modules.of("integrations/spring-integration"));
    }
}
