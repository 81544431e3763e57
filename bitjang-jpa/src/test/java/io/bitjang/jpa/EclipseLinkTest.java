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
import io.bitjang.testkit.TestDatabases;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.PersistenceConfiguration;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Another provider: what needs nothing but JPA works, the rest says what it needs. */
class EclipseLinkTest {

    private static EntityManagerFactory factory(Class<?>... entities) {
        PersistenceConfiguration unit = new PersistenceConfiguration("eclipselink" + entities.length)
                .provider("org.eclipse.persistence.jpa.PersistenceProvider")
                .property("jakarta.persistence.jdbc.url", TestDatabases.h2().jdbcUrl())
                .property("jakarta.persistence.jdbc.user", TestDatabases.h2().user())
                .property("jakarta.persistence.jdbc.password", TestDatabases.h2().password())
                .property("jakarta.persistence.schema-generation.database.action", "create")
                .property("eclipselink.logging.level", "OFF");
        for (Class<?> entity : entities) {
            unit.managedClass(entity);
        }
        return unit.createEntityManagerFactory();
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
            assertThatThrownBy(() -> OnJpa.tx(factory, em -> AggregateLocks.of(em)
                            .atVersion(Account.class, "eclipse", 1)))
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
        try (EntityManagerFactory factory =
                factory(Order.class, OrderLine.class, LineNote.class, Address.class)) {
            assertThatThrownBy(() -> OnJpa.tx(factory, em -> AggregateLocks.of(em).atVersion(Order.class, 1L, 1L)))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("@PartOf")
                    .hasMessageContaining("needs Hibernate");
        }
    }
}
