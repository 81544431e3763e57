// SPDX-License-Identifier: Apache-2.0
package io.bitjang.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitAccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaPackage;
import java.time.Clock;
import java.util.Collection;
import java.util.Date;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/** What every class of the core does, or never does. */
class CoreHabitsTest {
    private static final JavaClasses CORE = Modules.core();

    @Test
    void clocks_are_read_in_one_place() {
        noClasses()
                .that()
                .resideOutsideOfPackage("io.bitjang.internal.time..")
                .should()
                .accessTargetWhere(called("read a clock", CoreHabitsTest::readsClock))
                .because("time comes through one seam, which tests can hold still")
                .check(CORE);
    }

    @Test
    void threads_sleep_in_one_place() {
        noClasses()
                .that()
                .resideOutsideOfPackage("io.bitjang.internal.time..")
                .should()
                .accessTargetWhere(called("put a thread to sleep", CoreHabitsTest::sleeps))
                .check(CORE);
    }

    @Test
    void core_logs_in_a_way_that_cannot_fail() {
        noClasses()
                .that()
                .resideOutsideOfPackage("io.bitjang.internal.work..")
                .should()
                .dependOnClassesThat()
                .areAssignableTo(System.Logger.class)
                .because("a logger may throw, and a lock must not stay taken for a line of the log: use Log")
                .check(CORE);
    }

    @Test
    void text_does_not_change_with_the_users_language() {
        noClasses()
                .should()
                .accessTargetWhere(called("use the default locale", CoreHabitsTest::usesDefaultLocale))
                .because("in Turkish, \"TITLE\".toLowerCase() is not \"title\"")
                .check(CORE);
    }

    @Test
    void static_fields_never_change() {
        fields().that().areStatic().should().beFinal().check(CORE);
    }

    @Test
    void static_fields_hold_no_state() {
        noFields()
                .that()
                .areStatic()
                .should()
                .haveRawType(DescribedPredicate.describe(
                        "something that is there to be changed",
                        type -> type.getPackageName().equals(AtomicBoolean.class.getPackageName())
                                || type.isEquivalentTo(ThreadLocal.class)
                                || (isContainer(type) && !type.isInterface())))
                .because("two Locks in one JVM have nothing in common; constants are of the types List, Set and Map")
                .check(CORE);
    }

    @Test
    void every_package_is_null_marked() {
        Set<JavaPackage> packages = CORE.stream().map(JavaClass::getPackage).collect(Collectors.toSet());
        packages.removeIf(part -> part.getName().isEmpty()); // module-info
        assertThat(packages)
                .extracting(JavaPackage::getName)
                .contains("io.bitjang", "io.bitjang.admin", "io.bitjang.spi");
        assertThat(packages).allMatch(part -> part.isAnnotatedWith(NullMarked.class));
    }

    @Test
    void users_meet_at_most_twenty_types() {
        assertThat(CORE.stream()
                        .filter(type -> type.getPackageName().equals("io.bitjang"))
                        .filter(JavaClass::isTopLevelClass)
                        .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
                        .map(JavaClass::getSimpleName))
                .isNotEmpty()
                .hasSizeLessThanOrEqualTo(20);
    }

    private static boolean readsClock(CodeUnitAccessTarget target) {
        JavaClass owner = target.getOwner();
        return owner.isEquivalentTo(Clock.class)
                || (owner.isEquivalentTo(Date.class)
                        && target.getRawParameterTypes().isEmpty())
                || (owner.getPackageName().equals("java.time")
                        && target.getName().equals("now"))
                || (owner.isEquivalentTo(System.class)
                        && Set.of("currentTimeMillis", "nanoTime").contains(target.getName()));
    }

    private static boolean sleeps(CodeUnitAccessTarget target) {
        JavaClass owner = target.getOwner();
        return (owner.isEquivalentTo(Thread.class) && target.getName().equals("sleep"))
                || (owner.isEquivalentTo(TimeUnit.class) && target.getName().equals("sleep"))
                || (owner.isEquivalentTo(LockSupport.class) && target.getName().startsWith("park"));
    }

    private static boolean usesDefaultLocale(CodeUnitAccessTarget target) {
        return target.getOwner().isEquivalentTo(String.class)
                && Set.of("toLowerCase", "toUpperCase", "format").contains(target.getName())
                && target.getRawParameterTypes().stream().noneMatch(type -> type.isEquivalentTo(Locale.class));
    }

    private static boolean isContainer(JavaClass type) {
        return type.isAssignableTo(Map.class) || type.isAssignableTo(Collection.class);
    }

    private static DescribedPredicate<JavaAccess<?>> called(String what, Predicate<CodeUnitAccessTarget> matches) {
        return DescribedPredicate.describe(
                what, access -> access.getTarget() instanceof CodeUnitAccessTarget target && matches.test(target));
    }
}
