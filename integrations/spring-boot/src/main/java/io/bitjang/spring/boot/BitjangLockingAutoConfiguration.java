// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import io.bitjang.Locks;
import io.bitjang.spring.LockingConfiguration;
import io.bitjang.spring.LockingSettings;
import java.util.Arrays;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;

/** {@code @Locked}, a {@code LockTemplate}, and Spring's exceptions for those of the locks. */
@AutoConfiguration(after = BitjangAutoConfiguration.class)
@ConditionalOnBean({Locks.class, BitjangProperties.class})
@ConditionalOnBooleanProperty(name = "bitjang.locked.enabled", matchIfMissing = true)
@Import(LockingConfiguration.class)
public final class BitjangLockingAutoConfiguration {

    // Asked for by the first proxy that is made: before its time, neither the data source nor the locks are needed.
    @Bean
    @ConditionalOnMissingBean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LockingSettings bitjangLockingSettings(
            BitjangProperties properties,
            ConfigurableListableBeanFactory beans,
            ObjectProvider<LockConnections> connections) {
        LockingSettings settings = LockingSettings.defaults();
        if (properties.locked().selfInvocation() == BitjangProperties.Severity.WARN) {
            settings = settings.warningOnSelfInvocation();
        }
        @Nullable String name = properties.dataSource();
        if (name == null && isMarked(beans)) {
            name = connections.stream()
                    .findFirst()
                    .map(LockConnections::transactionsName)
                    .orElse(null);
        }
        return name == null ? settings : settings.following(name);
    }

    private static boolean isMarked(ConfigurableListableBeanFactory beans) {
        return Arrays.stream(beans.getBeanNamesForType(DataSource.class, true, false))
                .anyMatch(name -> beans.findAnnotationOnBean(name, BitjangDataSource.class, false) != null);
    }
}
