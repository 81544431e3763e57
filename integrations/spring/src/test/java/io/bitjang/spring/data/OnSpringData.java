// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.data;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.Wait;
import io.bitjang.spring.data.shop.Order;
import io.bitjang.spring.data.shop.Orders;
import io.bitjang.spring.data.shop.Shop;
import io.bitjang.testkit.TestDatabases;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** A test with the repositories of Spring Data on each database; one application for all tests of a class on a database. */
@ParameterizedClass(name = "{0}")
@MethodSource("databases")
abstract class OnSpringData {

    private static final AtomicLong NUMBERS = new AtomicLong(1);

    @Parameter
    String name;

    static ExecutorService threads;
    static HikariDataSource pool;
    static AnnotationConfigApplicationContext application;
    static Orders orders;
    static Shop shop;

    static List<String> databases() {
        return TestDatabases.selected();
    }

    @BeforeParameterizedClassInvocation
    static void start(String database) {
        threads = Executors.newCachedThreadPool();
        pool = TestDatabases.byName(database).pool(10);
        application = new AnnotationConfigApplicationContext();
        application.registerBean("dataSource", DataSource.class, () -> pool);
        application.registerBean(
                "archive", LocalContainerEntityManagerFactoryBean.class, ArchiveConfiguration::archive);
        application.register(ShopConfiguration.class, ArchiveConfiguration.class);
        application.refresh();
        orders = application.getBean(Orders.class);
        shop = application.getBean(Shop.class);
    }

    @AfterParameterizedClassInvocation
    static void stop() {
        threads.shutdownNow();
        application.close();
        pool.close();
    }

    static TransactionTemplate transactions() {
        return new TransactionTemplate(application.getBean(PlatformTransactionManager.class));
    }

    static <T> T tx(Supplier<T> work) {
        return transactions().execute(status -> work.get());
    }

    static void inTx(Runnable work) {
        transactions().executeWithoutResult(status -> work.run());
    }

    /** A new order to Seoul, of which no other test knows, with one line of one piece. */
    static long newOrder() {
        long number = NUMBERS.getAndIncrement() * 1000;
        orders.save(new Order(number, "Seoul"));
        return number;
    }

    static long version(long number) {
        return orders.findById(number).orElseThrow().version();
    }

    static String city(long number) {
        return orders.findById(number).orElseThrow().city();
    }

    static int quantity(long number) {
        return tx(() -> orders.findById(number).orElseThrow().line().quantity());
    }

    /** Another transaction that has the order until this is closed. */
    static AutoCloseable holding(long number) throws InterruptedException {
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch enough = new CountDownLatch(1);
        Future<?> holder = threads.submit(() -> inTx(() -> {
            orders.lock(number, Wait.none());
            held.countDown();
            await(enough);
        }));
        await(held);
        return () -> {
            enough.countDown();
            holder.get(30, TimeUnit.SECONDS);
        };
    }

    /** In another transaction, while this one is open. */
    static void elsewhere(Runnable work) {
        try {
            threads.submit(work).get(30, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    static void await(CountDownLatch latch) {
        try {
            if (!latch.await(20, TimeUnit.SECONDS)) {
                throw new AssertionError("what was waited for did not come");
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static long millisSince(long nanos) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - nanos);
    }
}
