// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import io.bitjang.Locks;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/** Whether the locks can be reached, for the health endpoint. It is in no group, so it does not decide about readiness. */
@AutoConfiguration(after = BitjangAutoConfiguration.class)
@ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnBean({Locks.class, BitjangProperties.class})
@ConditionalOnEnabledHealthIndicator("bitjang")
public final class BitjangHealthAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean(name = {"bitjangHealthIndicator", "bitjangHealthContributor"})
    LocksHealthIndicator bitjangHealthIndicator(Locks locks, BitjangProperties settings) {
        return new LocksHealthIndicator(locks, settings.health().timeout());
    }
}
