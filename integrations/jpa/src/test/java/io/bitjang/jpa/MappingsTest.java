// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.bitjang.Wait;
import io.bitjang.jpa.shop.Account;
import io.bitjang.jpa.shop.ExpressParcel;
import io.bitjang.jpa.shop.Order;
import io.bitjang.jpa.shop.Parcel;
import io.bitjang.jpa.shop.Seat;
import io.bitjang.jpa.shop.SeatId;
import io.bitjang.testkit.CountingDataSource;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.Inheritance;
import jakarta.persistence.InheritanceType;
import jakarta.persistence.Version;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.hibernate.Hibernate;
import org.hibernate.jpa.HibernatePersistenceConfiguration;
import org.junit.jupiter.api.Test;

/** Ids, versions and tables of other kinds, and what a lock costs. */
class MappingsTest extends OnJpa {

    @Test
    void an_id_may_have_several_columns_and_a_version_may_be_a_time() {
        String row = "r" + number();
        SeatId one = new SeatId(row, 1);
        SeatId two = new SeatId(row, 2);
        inTx(em -> {
            em.persist(new Seat(one));
            em.persist(new Seat(two));
        });

        inTx(em -> {
            AggregateLocks locks = AggregateLocks.of(em);
            assertThat(locks.lockAll(Seat.class, List.of(two, one), Wait.none()))
                    .extracting(Seat::id)
                    .containsExactly(two, one);
            assertThat(catchThrowable(
                            () -> inTx(other -> AggregateLocks.of(other).lock(Seat.class, one, Wait.none()))))
                    .isInstanceOf(AggregateBusyException.class);
            locks.lock(Seat.class, one, Wait.none()).give("kim");
        });
        VersionToken form = tx(em -> AggregateLocks.of(em).versionOf(em.find(Seat.class, one)));
        inTx(em -> AggregateLocks.of(em)
                .atVersion(Seat.class, one, VersionToken.parse(form.value()))
                .give("lee"));

        assertThatThrownBy(() -> inTx(em -> AggregateLocks.of(em).atVersion(Seat.class, one, form)))
                .isInstanceOf(VersionConflictException.class);
        assertThatThrownBy(() -> inTx(em -> AggregateLocks.of(em).lock(Seat.class, new SeatId(row, 3), Wait.none())))
                .hasMessageContaining("is not there");
    }

    @Test
    void a_kind_of_aggregate_is_locked_as_the_aggregate() {
        long id = tx(em -> {
            ExpressParcel parcel = new ExpressParcel();
            em.persist(parcel);
            return parcel.id();
        });

        inTx(em -> {
            ExpressParcel parcel = AggregateLocks.of(em).lock(ExpressParcel.class, id, Wait.none());
            assertThat(catchThrowable(
                            () -> inTx(other -> AggregateLocks.of(other).lock(Parcel.class, id, Wait.none()))))
                    .isInstanceOf(AggregateBusyException.class);
            parcel.take("park");
        });

        inTx(em -> {
            Parcel parcel = AggregateLocks.of(em).lock(Parcel.class, id, Wait.none());
            assertThat(parcel).isInstanceOf(ExpressParcel.class);
            assertThat(parcel.version()).isEqualTo((short) 1);
            parcel.weigh(900);
        });
        inTx(em -> assertThat(em.find(Parcel.class, id).version()).isEqualTo((short) 2));
    }

    @Test
    void what_is_known_as_a_reference_only_is_locked_and_read() {
        long number = newOrder();
        inTx(em -> {
            Order reference = em.getReference(Order.class, number);
            assertThat(Hibernate.isInitialized(reference)).isFalse();

            Order locked = AggregateLocks.of(em).lock(Order.class, number, Wait.none());

            assertThat(locked.number()).isEqualTo(number);
            assertThat(Hibernate.isInitialized(reference)).isTrue();
        });
    }

    @Test
    void a_lock_costs_a_statement_that_locks_and_one_that_reads() {
        String account = "account-" + number();
        inTx(em -> em.persist(new Account(account, 1)));
        CountingDataSource seen = new CountingDataSource(pool);
        try (EntityManagerFactory counted = factory(seen, Map.of("hibernate.hbm2ddl.auto", "none"))) {
            int more = name.equals("postgresql") ? 2 : 0;
            for (Wait wait : List.of(Wait.none(), Wait.upTo(Duration.ofSeconds(1)), Wait.forever())) {
                tx(counted, em -> {
                    seen.reset();
                    AggregateLocks.of(em).lock(Account.class, account, wait);
                    assertThat(seen.roundTrips())
                            .as(seen.statements().toString())
                            .isEqualTo(2 + (wait.equals(Wait.none()) ? 0 : more));
                    seen.reset();
                    AggregateLocks.of(em).forceIncrement(Account.class, account);
                    AggregateLocks.of(em).forceIncrement(Account.class, account);
                    assertThat(seen.roundTrips())
                            .as(seen.statements().toString())
                            .isEqualTo(1);
                    return true;
                });
            }
        }
    }

    @Test
    void several_are_locked_by_one_statement() {
        List<String> accounts = List.of("account-" + number(), "account-" + number(), "account-" + number());
        inTx(em -> accounts.forEach(each -> em.persist(new Account(each, 1))));
        CountingDataSource seen = new CountingDataSource(pool);
        try (EntityManagerFactory counted = factory(seen, Map.of("hibernate.hbm2ddl.auto", "none"))) {
            tx(counted, em -> {
                seen.reset();
                AggregateLocks.of(em).lockAll(Account.class, accounts, Wait.upTo(Duration.ofSeconds(1)));
                assertThat(seen.statements().stream().filter(each -> each.contains("FOR ") && each.contains("UPDATE")))
                        .as(seen.statements().toString())
                        .hasSize(1)
                        .allMatch(each -> each.contains("ORDER BY"));
                return true;
            });
        }
    }

    @Entity(name = "Vehicle")
    @Inheritance(strategy = InheritanceType.TABLE_PER_CLASS)
    abstract static class Vehicle {
        @Id
        long id;

        @Version
        long version;
    }

    @Entity(name = "Tram")
    static class Tram extends Vehicle {}

    @Test
    void an_aggregate_without_a_row_of_its_own_is_refused() {
        HibernatePersistenceConfiguration unit = new HibernatePersistenceConfiguration("vehicles");
        unit.managedClasses(Vehicle.class, Tram.class);
        unit.property("jakarta.persistence.nonJtaDataSource", pool);
        try (EntityManagerFactory vehicles = unit.createEntityManagerFactory()) {
            assertThatThrownBy(() -> tx(vehicles, em -> AggregateLocks.of(em).lock(Vehicle.class, 1L, Wait.none())))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("TABLE_PER_CLASS");
        }
    }
}
