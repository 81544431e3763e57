// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.data;

import io.bitjang.spring.data.archive.ArchivedOrders;
import io.bitjang.spring.data.shop.Order;
import io.bitjang.spring.data.shop.OrderLine;
import io.bitjang.spring.data.shop.Orders;
import io.bitjang.spring.data.shop.Shop;
import jakarta.persistence.EntityManagerFactory;
import java.util.Map;
import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;
import org.springframework.data.jpa.repository.config.EnableJpaRepositories;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.annotation.EnableTransactionManagement;

/** Plain Spring with two persistence units that know the same entities; nothing of Bitjang is configured. */
@Configuration(proxyBeanMethods = false)
@EnableTransactionManagement
@EnableJpaRepositories(basePackageClasses = Orders.class)
@Import({Shop.class, ShopConfiguration.Archive.class})
class ShopConfiguration {

    @Bean
    @Primary
    LocalContainerEntityManagerFactoryBean entityManagerFactory(DataSource dataSource) {
        return unit("shop", dataSource);
    }

    @Bean
    @Primary
    JpaTransactionManager transactionManager(EntityManagerFactory entityManagerFactory) {
        return new JpaTransactionManager(entityManagerFactory);
    }

    private static LocalContainerEntityManagerFactoryBean unit(String name, DataSource dataSource) {
        LocalContainerEntityManagerFactoryBean unit = new LocalContainerEntityManagerFactoryBean();
        unit.setPersistenceUnitName(name);
        unit.setDataSource(dataSource);
        unit.setManagedTypes(PersistenceManagedTypes.of(Order.class.getName(), OrderLine.class.getName()));
        unit.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
        unit.setJpaPropertyMap(Map.of("hibernate.hbm2ddl.auto", "update"));
        return unit;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableJpaRepositories(
            basePackageClasses = ArchivedOrders.class,
            entityManagerFactoryRef = "archive",
            transactionManagerRef = "archiveTransactions")
    static class Archive {

        @Bean
        LocalContainerEntityManagerFactoryBean archive() {
            JdbcDataSource own = new JdbcDataSource();
            own.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
            return unit("archive", own);
        }

        @Bean
        JpaTransactionManager archiveTransactions(
                @org.springframework.beans.factory.annotation.Qualifier("archive") EntityManagerFactory archive) {
            return new JpaTransactionManager(archive);
        }
    }
}
