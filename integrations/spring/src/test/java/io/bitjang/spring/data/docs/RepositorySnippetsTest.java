// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.data.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.Wait;
import io.bitjang.jpa.VersionConflictException;
import io.bitjang.jpa.VersionToken;
import io.bitjang.spring.data.AggregateRepository;
import io.bitjang.spring.data.shop.Order;
import io.bitjang.spring.data.shop.OrderLine;
import io.bitjang.testkit.TestDatabases;
import jakarta.persistence.EntityManagerFactory;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.data.jpa.repository.config.EnableJpaRepositories;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.method.annotation.ExceptionHandlerMethodResolver;

/** What docs/aggregates.md shows of repositories, compiled and run. */
class RepositorySnippetsTest {

    interface Orders extends JpaRepository<Order, Long>, AggregateRepository<Order, Long> {}

    static class Shop {

        private final Orders orders;

        Shop(Orders orders) {
            this.orders = orders;
        }

        @Transactional
        public VersionToken save(long number, VersionToken version, String city) {
            Order order = orders.atVersion(number, version);
            order.moveTo(city);
            return orders.versionOf(order);
        }

        @Transactional
        public void add(long number, int quantity) {
            OrderLine line =
                    orders.lock(number, Wait.upTo(Duration.ofMillis(500))).line();
            line.change(line.quantity() + quantity);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(proxyTargetClass = true)
    @EnableJpaRepositories(considerNestedRepositories = true)
    @Import(Shop.class)
    static class Application {

        @Bean
        LocalContainerEntityManagerFactoryBean entityManagerFactory() {
            LocalContainerEntityManagerFactoryBean unit = new LocalContainerEntityManagerFactoryBean();
            unit.setDataSource(TestDatabases.h2().dataSource());
            unit.setManagedTypes(PersistenceManagedTypes.of(Order.class.getName(), OrderLine.class.getName()));
            unit.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
            unit.setJpaPropertyMap(Map.of("hibernate.hbm2ddl.auto", "update"));
            return unit;
        }

        @Bean
        JpaTransactionManager transactionManager(EntityManagerFactory entityManagerFactory) {
            return new JpaTransactionManager(entityManagerFactory);
        }
    }

    static class Pages {
        @org.springframework.web.bind.annotation.ExceptionHandler(VersionConflictException.class)
        void old() {}
    }

    @Test
    void a_form_and_a_lock() {
        try (var application = new AnnotationConfigApplicationContext(Application.class)) {
            Orders orders = application.getBean(Orders.class);
            Shop shop = application.getBean(Shop.class);
            long number = -1000;
            orders.save(new Order(number, "Seoul"));

            VersionToken next = shop.save(number, VersionToken.of(0L), "Busan");
            shop.add(number, 2);

            assertThat(orders.findById(number).orElseThrow().version()).isEqualTo(2);
            assertThatThrownBy(() -> shop.save(number, next, "Jeju"))
                    .hasCauseInstanceOf(VersionConflictException.class)
                    .satisfies(conflict -> assertThat(
                                    new ExceptionHandlerMethodResolver(Pages.class).resolveMethodByThrowable(conflict))
                            .isNotNull());
        }
    }
}
