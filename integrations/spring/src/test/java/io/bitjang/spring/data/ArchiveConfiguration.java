// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.data;

import io.bitjang.spring.data.archive.ArchivedOrders;
import jakarta.persistence.EntityManagerFactory;
import java.util.UUID;
import org.h2.jdbcx.JdbcDataSource;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.jpa.repository.config.EnableJpaRepositories;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;

/** A second persistence unit, in a database of its own, that knows the same entities as the shop's. */
@Configuration(proxyBeanMethods = false)
@EnableJpaRepositories(
        basePackageClasses = ArchivedOrders.class,
        entityManagerFactoryRef = "archive",
        transactionManagerRef = "archiveTransactions")
class ArchiveConfiguration {

    /** To be registered by its class, as XML does: then a repository refers to it in another way. */
    static LocalContainerEntityManagerFactoryBean archive() {
        JdbcDataSource own = new JdbcDataSource();
        own.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        return ShopConfiguration.unit("archive", own);
    }

    @Bean
    JpaTransactionManager archiveTransactions(@Qualifier("archive") EntityManagerFactory archive) {
        return new JpaTransactionManager(archive);
    }
}
