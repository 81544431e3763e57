// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import io.bitjang.jpa.AggregateLocks;
import jakarta.persistence.EntityManagerFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.orm.jpa.SharedEntityManagerCreator;

/** Aggregate locks over the entity manager of the current transaction. */
@AutoConfiguration(
        afterName = "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration",
        after = BitjangAutoConfiguration.class)
@ConditionalOnClass({AggregateLocks.class, EntityManagerFactory.class, SharedEntityManagerCreator.class})
@ConditionalOnSingleCandidate(EntityManagerFactory.class)
@ConditionalOnBooleanProperty(name = "bitjang.enabled", matchIfMissing = true)
public final class BitjangJpaAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    AggregateLocks bitjangAggregateLocks(EntityManagerFactory factory) {
        return AggregateLocks.of(SharedEntityManagerCreator.createSharedEntityManager(factory));
    }
}
