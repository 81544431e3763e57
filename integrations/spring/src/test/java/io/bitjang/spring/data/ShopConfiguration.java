// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.data;

import io.bitjang.spring.data.shop.Order;
import io.bitjang.spring.data.shop.OrderLine;
import io.bitjang.spring.data.shop.Orders;
import io.bitjang.spring.data.shop.Shop;
import jakarta.persistence.EntityManagerFactory;
import java.util.Map;
import javax.sql.DataSource;
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

/** Plain Spring with JPA; nothing of Bitjang is configured. */
@Configuration(proxyBeanMethods = false)
@EnableTransactionManagement
@EnableJpaRepositories(basePackageClasses = Orders.class)
@Import(Shop.class)
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

    static LocalContainerEntityManagerFactoryBean unit(String name, DataSource dataSource) {
        LocalContainerEntityManagerFactoryBean unit = new LocalContainerEntityManagerFactoryBean();
        unit.setPersistenceUnitName(name);
        unit.setDataSource(dataSource);
        unit.setManagedTypes(PersistenceManagedTypes.of(Order.class.getName(), OrderLine.class.getName()));
        unit.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
        unit.setJpaPropertyMap(Map.of("hibernate.hbm2ddl.auto", "update"));
        return unit;
    }
}
