// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.LockId;
import io.bitjang.Locks;
import io.bitjang.NoLockException;
import io.bitjang.Wait;
import io.bitjang.jpa.shop.Account;
import io.bitjang.jpa.shop.Address;
import io.bitjang.jpa.shop.LineNote;
import io.bitjang.jpa.shop.Order;
import io.bitjang.jpa.shop.OrderLine;
import io.bitjang.testkit.TestDatabase;
import io.bitjang.testkit.TestDatabases;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.PersistenceConfiguration;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.eclipse.persistence.jpa.PersistenceProvider;
import org.junit.jupiter.api.Test;

/** Another provider: what needs nothing but JPA works, the rest says what it needs. */
class EclipseLinkTest {

    static EntityManagerFactory factory(String url, String user, String password, Class<?>... entities) {
        PersistenceConfiguration unit = new PersistenceConfiguration("eclipselink" + entities.length)
                .property("jakarta.persistence.jdbc.url", url)
                .property("jakarta.persistence.jdbc.user", user)
                .property("jakarta.persistence.jdbc.password", password)
                .property("jakarta.persistence.schema-generation.database.action", "create")
                .property("eclipselink.logging.level", "OFF");
        for (Class<?> entity : entities) {
            unit.managedClass(entity);
        }
        return new PersistenceProvider().createEntityManagerFactory(unit);
    }

    private static EntityManagerFactory factory(Class<?>... entities) {
        TestDatabase h2 = TestDatabases.h2();
        return factory(h2.jdbcUrl(), h2.user(), h2.password(), entities);
    }

    @Test
    void form_versions_and_offline_locks_work() {
        try (EntityManagerFactory factory = factory(Account.class);
                Locks locks = Locks.create(TestDatabases.h2().dataSource())) {
            OnJpa.tx(factory, em -> {
                em.persist(new Account("eclipse", 1));
                return true;
            });
            LockId lockId = locks.manager().tryLock("account", "eclipse", "kim", Duration.ofMinutes(1));

            VersionToken token = OnJpa.tx(factory, em -> {
                AggregateLocks aggregates = AggregateLocks.of(em);
                aggregates.checkLock(locks.manager(), lockId);
                aggregates.atVersion(Account.class, "eclipse", 1).add(1);
                aggregates.releaseLock(locks.manager(), lockId);
                return aggregates.versionOf(em.find(Account.class, "eclipse"));
            });

            assertThat(token).isEqualTo(VersionToken.of(2));
            assertThatThrownBy(() ->
                            OnJpa.tx(factory, em -> AggregateLocks.of(em).atVersion(Account.class, "eclipse", 1)))
                    .isInstanceOf(VersionConflictException.class);
            assertThatThrownBy(() -> OnJpa.tx(factory, em -> {
                        AggregateLocks.of(em).checkLock(locks.manager(), lockId);
                        return true;
                    }))
                    .isInstanceOf(NoLockException.class);
        }
    }

    @Test
    void what_needs_hibernate_says_so() {
        try (EntityManagerFactory factory = factory(Account.class)) {
            OnJpa.tx(factory, em -> {
                em.persist(new Account("eclipse-2", 1));
                em.flush();
                AggregateLocks aggregates = AggregateLocks.of(em);
                assertThatThrownBy(() -> aggregates.lock(Account.class, "eclipse-2", Wait.none()))
                        .isInstanceOf(UnsupportedOperationException.class)
                        .hasMessageContaining("Locking an aggregate needs Hibernate")
                        .hasMessageContaining("org.eclipse.persistence");
                assertThatThrownBy(() -> aggregates.forceIncrement(Account.class, "eclipse-2"))
                        .isInstanceOf(UnsupportedOperationException.class)
                        .hasMessageContaining("Moving a version needs Hibernate");
                return true;
            });
        }
    }

    @Test
    void marks_that_would_be_in_vain_are_refused() {
        try (EntityManagerFactory factory = factory(Order.class, OrderLine.class, LineNote.class, Address.class)) {
            assertThatThrownBy(() ->
                            OnJpa.tx(factory, em -> AggregateLocks.of(em).atVersion(Order.class, 1L, 1L)))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("@PartOf")
                    .hasMessageContaining("needs Hibernate");
        }
    }

    @Test
    void it_works_where_there_is_no_hibernate() throws Exception {
        String classPath = Stream.of(
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"))
                                .split(File.pathSeparator))
                .filter(entry -> !entry.contains("hibernate"))
                .collect(Collectors.joining(File.pathSeparator));
        Process alone = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        classPath,
                        WithoutHibernate.class.getName())
                .redirectErrorStream(true)
                .start();
        String printed = new String(alone.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(alone.waitFor()).as(printed).isZero();
        assertThat(printed).contains("version 1").contains("Locking an aggregate needs Hibernate");
    }
}
