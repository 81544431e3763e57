// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.Wait;
import io.bitjang.jpa.shop.Account;
import io.bitjang.jpa.shop.Address;
import io.bitjang.jpa.shop.Article;
import io.bitjang.jpa.shop.Contract;
import io.bitjang.jpa.shop.ContractId;
import io.bitjang.jpa.shop.ExpressParcel;
import io.bitjang.jpa.shop.LineNote;
import io.bitjang.jpa.shop.Memo;
import io.bitjang.jpa.shop.Order;
import io.bitjang.jpa.shop.OrderLine;
import io.bitjang.jpa.shop.Page;
import io.bitjang.jpa.shop.Parcel;
import io.bitjang.jpa.shop.Seal;
import io.bitjang.jpa.shop.Seat;
import io.bitjang.jpa.shop.SeatId;
import io.bitjang.jpa.shop.UnprotectedOrder;
import io.bitjang.testkit.TestDatabase;
import io.bitjang.testkit.TestDatabases;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import javax.sql.DataSource;
import org.hibernate.jpa.HibernatePersistenceConfiguration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** A test that runs with Hibernate on each database. */
@ParameterizedClass(name = "{0}")
@MethodSource("databases")
@ExtendWith(OnJpa.Units.class)
abstract class OnJpa {

    /**
     * Pools, and what Hibernate made of the classes on them: once for all tests of this JVM, because it takes longer than most of
     * them.
     */
    private record Unit(HikariDataSource pool, EntityManagerFactory factory) implements AutoCloseable {

        static Unit on(String name) {
            HikariDataSource pool = TestDatabases.byName(name).pool(40);
            // a busy machine takes seconds to open dozens of connections at once
            pool.getHikariConfigMXBean().setConnectionTimeout(30_000);
            return new Unit(pool, OnJpa.factory(pool, Map.of()));
        }

        @Override
        public void close() {
            factory.close();
            pool.close();
        }
    }

    /** Hands them to the tests. */
    static final class Units implements BeforeEachCallback {
        @Override
        public void beforeEach(ExtensionContext context) {
            OnJpa test = (OnJpa) context.getRequiredTestInstance();
            // of the session: the root's ends with each test class in a JVM that gets them one by one
            Unit unit = context.getStore(
                            ExtensionContext.StoreScope.LAUNCHER_SESSION,
                            ExtensionContext.Namespace.create(OnJpa.class))
                    .computeIfAbsent(test.name, Unit::on, Unit.class);
            test.database = TestDatabases.byName(test.name);
            test.pool = unit.pool;
            test.factory = unit.factory;
        }
    }

    private static final AtomicLong NUMBERS = new AtomicLong(1);
    private static final int MEASUREMENTS = 12;

    @Parameter
    String name;

    final ExecutorService threads = Executors.newCachedThreadPool();
    TestDatabase database;
    HikariDataSource pool;
    EntityManagerFactory factory;

    static List<String> databases() {
        return TestDatabases.selected();
    }

    /** What a test leaves open, another might wait for. */
    @AfterEach
    final void stop() throws InterruptedException {
        threads.shutdownNow();
        assertThat(threads.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
        assertThat(pool.getHikariPoolMXBean().getActiveConnections())
                .as("connections in use")
                .isZero();
    }

    /** With settings of its own. */
    static EntityManagerFactory factory(DataSource source, Map<String, Object> settings) {
        Map<String, Object> all = new HashMap<>(settings);
        HibernatePersistenceConfiguration unit = new HibernatePersistenceConfiguration("shop");
        List.of(
                        Order.class,
                        UnprotectedOrder.class,
                        OrderLine.class,
                        LineNote.class,
                        Address.class,
                        Account.class,
                        Memo.class,
                        Seat.class,
                        SeatId.class,
                        Parcel.class,
                        ExpressParcel.class,
                        Contract.class,
                        Seal.class,
                        ContractId.class,
                        Article.class,
                        Page.class)
                .forEach(unit::managedClass);
        unit.property("jakarta.persistence.nonJtaDataSource", source);
        unit.property("hibernate.hbm2ddl.auto", "update");
        unit.property("hibernate.cache.use_second_level_cache", false);
        all.forEach(unit::property);
        return unit.createEntityManagerFactory();
    }

    /** A number that no other test uses. */
    static long number() {
        return NUMBERS.getAndIncrement() * 1000;
    }

    /** A transaction of its own. */
    <T> T tx(Function<EntityManager, T> work) {
        return tx(factory, work);
    }

    static <T> T tx(EntityManagerFactory factory, Function<EntityManager, T> work) {
        EntityManager em = factory.createEntityManager();
        try {
            em.getTransaction().begin();
            T result = work.apply(em);
            em.getTransaction().commit();
            return result;
        } finally {
            if (em.getTransaction().isActive()) {
                em.getTransaction().rollback();
            }
            em.close();
        }
    }

    void inTx(Consumer<EntityManager> work) {
        tx(em -> {
            work.accept(em);
            return true;
        });
    }

    /** A new order with two lines, the first of which has a note. */
    long newOrder() {
        long number = number();
        inTx(em -> {
            Order order = new Order(number);
            order.addLine(number + 1, "tea", 1).addNote(number + 11, "green");
            order.addLine(number + 2, "rice", 2);
            order.labels().add("new");
            em.persist(order);
        });
        return number;
    }

    /** Another transaction that has the order until this is closed. */
    AutoCloseable holding(long number) {
        EntityManager em = factory.createEntityManager();
        em.getTransaction().begin();
        AggregateLocks.of(em).lock(Order.class, number, Wait.none());
        return () -> {
            em.getTransaction().rollback();
            em.close();
        };
    }

    /** Why the order could not be locked. */
    Throwable refused(long number, Wait wait) {
        return catchThrowable(() -> inTx(em -> AggregateLocks.of(em).lock(Order.class, number, wait)));
    }

    /**
     * The shortest of some measurements, as soon as one is short enough: a machine that is busy with other things makes whatever one
     * measures longer, and never shorter. No flaw hides behind that: a limit that is rounded up, ignored or taken from the session is
     * so every time, and a wait that is too short shows, because the shortest counts.
     */
    static long shortest(long enough, Callable<Long> measured) throws Exception {
        long shortest = Long.MAX_VALUE;
        for (int i = 0; i < MEASUREMENTS && shortest > enough; i++) {
            shortest = Math.min(shortest, measured.call());
        }
        return shortest;
    }

    static long millisSince(long nanos) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - nanos);
    }
}
