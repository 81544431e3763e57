// SPDX-License-Identifier: Apache-2.0
package io.bitjang.architecture;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.io.IOException;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.nio.file.Files;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Who may see whom: around the core, and between its packages. */
class CoreDependenciesTest {
    private static final JavaClasses CORE = Modules.core();
    private static final String INTERNAL = "io.bitjang.internal.";

    /** What decides in the engine of leases. */
    private static final Set<String> DECIDING =
            Set.of("FairShare", "FenceReserve", "LeaseState", "LeaseWaiter", "Request", "WaitQueue");

    /** What it decides with, apart from times: names, what is asked for and held, a lock around fields, one who waits. */
    private static final Set<String> VALUES = Set.of(
            "Lease",
            "LockName",
            "Wait",
            "internal.lease.LeaseHandle",
            "internal.lease.Limits",
            "internal.sql.Claim",
            "internal.sql.Gone",
            "internal.work.Locked",
            "internal.work.Waiter");

    @Test
    void core_needs_nothing_but_the_jdk_and_jspecify() {
        classes()
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage("io.bitjang..", "java..", "javax.sql..", "org.jspecify.annotations..")
                .check(CORE);
    }

    @Test
    void module_exports_only_what_users_meet() throws IOException {
        ModuleDescriptor module = descriptor();
        assertThat(module.isOpen()).isFalse();
        assertThat(module.opens()).isEmpty();
        assertThat(module.exports()).allMatch(exports -> !exports.isQualified());
        assertThat(module.exports().stream().map(ModuleDescriptor.Exports::source))
                .containsExactlyInAnyOrder("io.bitjang", "io.bitjang.admin", "io.bitjang.spi");
    }

    @Test
    void module_requires_nothing_a_user_would_have_to_add() throws IOException {
        Set<String> atRunTime = descriptor().requires().stream()
                .filter(requires -> !requires.modifiers().contains(ModuleDescriptor.Requires.Modifier.STATIC))
                .map(ModuleDescriptor.Requires::name)
                .collect(Collectors.toSet());
        assertThat(atRunTime).containsExactlyInAnyOrder("java.base", "java.sql");
    }

    @Test
    void internal_packages_are_used_by_core_alone() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.bitjang.internal..")
                .check(Modules.contractsAndTheirTests());
    }

    @Test
    void exported_types_show_nothing_internal() {
        classes()
                .that()
                .resideOutsideOfPackage("io.bitjang.internal..")
                .and()
                .arePublic()
                .should(new ArchCondition<>("have no internal type in a signature") {
                    @Override
                    public void check(JavaClass type, ConditionEvents events) {
                        internalTypesShownBy(type)
                                .forEach(message -> events.add(SimpleConditionEvent.violated(type, message)));
                    }
                })
                .check(CORE);
    }

    @Test
    void leases_and_session_locks_do_not_see_each_other() {
        noClasses()
                .that()
                .resideInAPackage("io.bitjang.internal.lease..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.bitjang.internal.session..")
                .check(CORE);
        noClasses()
                .that()
                .resideInAPackage("io.bitjang.internal.session..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.bitjang.internal.lease..")
                .allowEmptyShould(true) // there are no session locks yet
                .check(CORE);
    }

    @Test
    void internal_packages_depend_on_each_other_in_one_direction() {
        slices().matching("io.bitjang.internal.(*)..").should().beFreeOfCycles().check(CORE);
    }

    @Test
    void engines_can_be_read_from_top_to_bottom() {
        slices().assignedFrom(eachClassOf("io.bitjang.internal.lease"))
                .should()
                .beFreeOfCycles()
                .check(CORE);
        slices().assignedFrom(eachClassOf("io.bitjang.internal.session"))
                .should()
                .beFreeOfCycles()
                .check(CORE);
    }

    @Test
    void what_decides_depends_on_nothing_but_the_jdk_and_values() {
        classes()
                .that(areOneOf(INTERNAL + "lease.", DECIDING))
                .should()
                .onlyDependOnClassesThat(resideInAnyPackage(
                                "java.lang..",
                                "java.util",
                                "java.util.function",
                                "java.util.stream",
                                "java.time",
                                "org.jspecify.annotations",
                                "io.bitjang.internal.time")
                        .or(areOneOf(INTERNAL + "lease.", DECIDING))
                        .or(areOneOf("io.bitjang.", VALUES)))
                .check(CORE);
    }

    @Test
    void threads_and_connections_are_seen_by_the_driver_and_by_what_wakes_up() {
        assertThat(usersIn("lease", "work.Workers"))
                .containsExactlyInAnyOrder("LeaseEngine", "Notifications", "ProcessLine", "WorkerDriver");
        assertThat(usersIn("lease", "sql.Runner")).containsExactly("WorkerDriver");
        assertThat(usersIn("lease", "sql.Database")).containsExactlyInAnyOrder("LeaseEngine", "Notifications");
        assertThat(usersIn("lease", "sql.SessionStore")).containsExactlyInAnyOrder("LeaseEngine", "ProcessLine");
    }

    @Test
    void statements_are_planned_by_few() {
        assertThat(usersIn("lease", "sql.LockStore"))
                .containsExactlyInAnyOrder(
                        "Grants",
                        "HeldRow",
                        "Instance",
                        "LateReleases",
                        "LeaseEngine",
                        "OfflineLocks",
                        "Operator",
                        "PassingOn",
                        "Releases",
                        "Renewer",
                        "WaitQueues");
    }

    /** Names the classes of an internal package that depend on an internal class; a nested class counts as the one around it. */
    private static Set<String> usersIn(String part, String seen) {
        return CORE.stream()
                .filter(type -> type.getPackageName().equals(INTERNAL + part))
                .filter(type -> type.getDirectDependenciesFromSelf().stream()
                        .anyMatch(to -> outermost(to.getTargetClass()).equals(INTERNAL + seen)))
                .map(type -> outermost(type).substring((INTERNAL + part).length() + 1))
                .collect(Collectors.toSet());
    }

    private static DescribedPredicate<JavaClass> areOneOf(String prefix, Set<String> names) {
        return DescribedPredicate.describe(
                "are one of " + names,
                type -> names.stream().anyMatch(name -> outermost(type).equals(prefix + name)));
    }

    private static String outermost(JavaClass type) {
        return type.getName().replaceAll("\\$.*", "");
    }

    /** Makes a slice of each class; a nested class is part of the one around it. */
    private static SliceAssignment eachClassOf(String part) {
        return new SliceAssignment() {
            @Override
            public SliceIdentifier getIdentifierOf(JavaClass type) {
                return type.getPackageName().equals(part)
                        ? SliceIdentifier.of(outermost(type))
                        : SliceIdentifier.ignore();
            }

            @Override
            public String getDescription() {
                return "each class of " + part;
            }
        };
    }

    @Test
    void jdbc_is_spoken_only_where_sql_is_made_and_run() {
        noClasses()
                .that(DescribedPredicate.not(makeOrRunSql()))
                .should()
                .dependOnClassesThat(resideInAnyPackage("java.sql..", "javax.sql..")
                        .and(DescribedPredicate.not(handedOverByTheCaller())))
                .check(CORE);
    }

    @Test
    void connections_pass_only_through_the_api_and_the_engines() {
        noClasses()
                .that(DescribedPredicate.not(makeOrRunSql()
                        .or(resideInAnyPackage(
                                "io.bitjang", "io.bitjang.internal.lease..", "io.bitjang.internal.session.."))))
                .should()
                .dependOnClassesThat(handedOverByTheCaller())
                .check(CORE);
    }

    private static DescribedPredicate<JavaClass> makeOrRunSql() {
        return resideInAnyPackage(
                "io.bitjang.internal.sql..", "io.bitjang.internal.dialect..", "io.bitjang.internal.schema..");
    }

    /** A caller gives us a pool or, for a guard, the connection of its own transaction: these pass through the API. */
    private static DescribedPredicate<JavaClass> handedOverByTheCaller() {
        return DescribedPredicate.describe(
                "are a Connection or a DataSource",
                type -> type.getName().equals("java.sql.Connection")
                        || type.getName().equals("javax.sql.DataSource"));
    }

    private static Stream<String> internalTypesShownBy(JavaClass type) {
        Predicate<JavaClass> internal = resideInAPackage("io.bitjang.internal..");
        Stream<String> parents = Stream.concat(type.getRawSuperclass().stream(), type.getRawInterfaces().stream())
                .filter(internal)
                .map(parent -> type.getName() + " extends " + parent.getName());
        Stream<String> members = type.getMembers().stream()
                .filter(CoreDependenciesTest::isVisible)
                .flatMap(member -> typesOf(member)
                        .filter(internal)
                        .map(shown -> member.getFullName() + " shows " + shown.getName()));
        return Stream.concat(parents, members);
    }

    private static boolean isVisible(JavaMember member) {
        return member.getModifiers().contains(JavaModifier.PUBLIC)
                || member.getModifiers().contains(JavaModifier.PROTECTED);
    }

    private static Stream<JavaClass> typesOf(JavaMember member) {
        if (member instanceof JavaField field) {
            return field.getAllInvolvedRawTypes().stream();
        }
        JavaCodeUnit code = (JavaCodeUnit) member;
        return Stream.concat(
                code.getAllInvolvedRawTypes().stream(),
                code.getThrowsClause().stream().map(declaration -> declaration.getRawType()));
    }

    private static ModuleDescriptor descriptor() throws IOException {
        try (InputStream in = Files.newInputStream(Modules.descriptorOfCore())) {
            return ModuleDescriptor.read(in);
        }
    }
}
