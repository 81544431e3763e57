// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring;

import io.bitjang.LockManager;
import io.bitjang.Locks;
import io.bitjang.spring.internal.GuardingListeners;
import io.bitjang.spring.internal.LockDatabase;
import io.bitjang.spring.internal.LockScopes;
import io.bitjang.spring.internal.LockedAdvisor;
import io.bitjang.spring.internal.LockedBeans;
import io.bitjang.spring.internal.LockedMethods;
import io.bitjang.spring.internal.SpringTransactions;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Fallback;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Role;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.util.function.SingletonSupplier;

/**
 * All that {@link EnableLocking} brings. Import it, from an auto-configuration for example; importing it twice is the same as once.
 *
 * <p>It needs a bean {@link Locks}. It follows the transactions of one data source, which must have the tables of the locks: the only
 * bean {@link DataSource}, the primary one, or the one that a bean {@link LockingSettings} names; without any, offline locks act at
 * once. Transactions under a lease are guarded whichever data source they know, if it leads to the database of the locks. The application gets the beans {@link LockTemplate}, {@link LockManager} and {@link
 * LockExceptionTranslator}; the rest is infrastructure. Neither {@code Locks} nor the data source is made before its time.
 */
@Configuration(proxyBeanMethods = false)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
@Import(LockingConfiguration.Proxies.class)
public class LockingConfiguration {

    /** For the container. */
    public LockingConfiguration() {}

    /** With all of an application's proxies, if there are any. */
    static final class Proxies implements ImportBeanDefinitionRegistrar {
        @Override
        public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
            AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
        }
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LockScopes bitjangLockScopes(ConfigurableListableBeanFactory beans) {
        Supplier<Locks> locks = SingletonSupplier.of(() -> beans.getBean(Locks.class));
        return new LockScopes(
                locks,
                SingletonSupplier.of(() -> new SpringTransactions(followed(beans), new LockDatabase(locks))),
                SingletonSupplier.ofNullable(
                        () -> beans.getBeanProvider(LockObserver.class).getIfAvailable()));
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LockedMethods bitjangLockedMethods(ConfigurableListableBeanFactory beans) {
        return new LockedMethods(text -> placeholders(beans, text), new BeanFactoryResolver(beans));
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LockedAdvisor bitjangLockedAdvisor(
            ConfigurableListableBeanFactory beans, LockScopes scopes, LockedMethods methods) {
        return new LockedAdvisor(scopes, methods, settings(beans));
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LockedBeans bitjangLockedBeans(ConfigurableListableBeanFactory beans, LockedMethods methods) {
        return new LockedBeans(beans, methods, settings(beans));
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static GuardingListeners bitjangGuardingListeners(ConfigurableListableBeanFactory beans, LockScopes scopes) {
        return new GuardingListeners(beans, scopes);
    }

    @Bean
    static LockExceptionTranslator bitjangLockExceptionTranslator() {
        return new LockExceptionTranslator();
    }

    // with the locks as a parameter, so that these are there as long as the template is
    @Bean
    LockTemplate bitjangLockTemplate(LockScopes scopes, Locks locks) {
        return new LockTemplate(scopes);
    }

    // an application, or its auto-configuration, may have one of its own
    @Bean
    @Fallback
    LockManager bitjangLockManager(Locks locks, ConfigurableListableBeanFactory beans) {
        @Nullable DataSource followed = followed(beans);
        return followed == null ? locks.manager() : new TransactionalLockManager(locks.manager(), followed);
    }

    private static Supplier<LockingSettings> settings(BeanFactory beans) {
        return SingletonSupplier.of(
                () -> beans.getBeanProvider(LockingSettings.class).getIfAvailable(LockingSettings::defaults));
    }

    private static @Nullable DataSource followed(BeanFactory beans) {
        @Nullable String name = settings(beans).get().dataSource();
        if (name != null) {
            return beans.getBean(name, DataSource.class);
        }
        try {
            return beans.getBeanProvider(DataSource.class).getIfAvailable();
        } catch (NoUniqueBeanDefinitionException e) {
            throw new IllegalStateException(
                    "There are several data sources (" + e.getBeanNamesFound()
                            + "): say whose transactions the locks follow, with a bean"
                            + " LockingSettings.defaults().following(\"...\"), or make one the primary data source.",
                    e);
        }
    }

    private static String placeholders(ConfigurableListableBeanFactory beans, String text) {
        @Nullable String resolved = beans.resolveEmbeddedValue(text);
        if (resolved != null && resolved.contains("${")) {
            throw new IllegalStateException("@Locked has a placeholder that can't be resolved: " + resolved);
        }
        return resolved == null ? "" : resolved;
    }
}
