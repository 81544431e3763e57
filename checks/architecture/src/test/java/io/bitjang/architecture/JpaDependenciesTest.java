// SPDX-License-Identifier: Apache-2.0
package io.bitjang.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** What the JPA module needs. */
class JpaDependenciesTest {

    private static final JavaClasses JPA = Modules.jpa();

    @Test
    void it_needs_core_and_jpa_and_hibernate_if_it_is_there() throws Exception {
        List<String> needed = new ArrayList<>();
        List<String> optional = new ArrayList<>();
        NodeList dependencies = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(Modules.ROOT.resolve("integrations/jpa/pom.xml").toFile())
                .getElementsByTagName("dependency");
        for (int i = 0; i < dependencies.getLength(); i++) {
            Element dependency = (Element) dependencies.item(i);
            if (text(dependency, "scope").isEmpty()) {
                (text(dependency, "optional").equals("true") ? optional : needed).add(text(dependency, "artifactId"));
            }
        }
        assertThat(needed).containsExactlyInAnyOrder("bitjang-core", "jakarta.persistence-api", "jspecify");
        assertThat(optional).containsExactly("hibernate-core");
    }

    private static String text(Element element, String name) {
        NodeList found = element.getElementsByTagName(name);
        return found.getLength() == 0 ? "" : found.item(0).getTextContent();
    }

    @Test
    void it_sees_nothing_else() {
        classes()
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(
                        "io.bitjang",
                        "io.bitjang.jpa..",
                        "java..",
                        "jakarta.persistence..",
                        "org.hibernate..",
                        "org.jspecify.annotations..")
                .check(JPA);
    }

    /** One class asks whether Hibernate is there, the others that users meet can be loaded without it. */
    @Test
    void what_users_meet_does_not_need_hibernate() {
        noClasses()
                .that()
                .resideInAPackage("io.bitjang.jpa")
                .and()
                .doNotHaveSimpleName("AggregateLocks")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("org.hibernate..")
                .check(JPA);
    }
}
