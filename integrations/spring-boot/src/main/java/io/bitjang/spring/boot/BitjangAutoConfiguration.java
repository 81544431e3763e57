// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import io.bitjang.LockManager;
import io.bitjang.Locks;
import io.bitjang.admin.LockAdmin;
import io.bitjang.spi.LockListener;
import io.bitjang.spring.LockObserver;
import io.bitjang.spring.TransactionalLockManager;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Locks for an application that has a data source: {@link Locks}, and a {@link LockManager} that follows its transactions.
 *
 * <p>A bean of the application's own takes the place of each of them.
 */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
            "org.springframework.boot.jdbc.autoconfigure.JndiDataSourceAutoConfiguration",
            "org.springframework.boot.jdbc.autoconfigure.XADataSourceAutoConfiguration"
        })
@ConditionalOnBean(DataSource.class)
@ConditionalOnBooleanProperty(name = "bitjang.enabled", matchIfMissing = true)
@EnableConfigurationProperties(BitjangProperties.class)
public final class BitjangAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean(Locks.class)
    LockConnections bitjangConnections(
            BitjangProperties settings,
            ConfigurableListableBeanFactory beans,
            ObjectProvider<DataSource> all,
            @BitjangDataSource ObjectProvider<DataSource> marked) {
        DataSources sources = new DataSources(beans, all, marked.getIfAvailable());
        return LockConnections.of(sources.choose(settings.dataSource()), settings.pool());
    }

    @Bean
    @ConditionalOnMissingBean
    @DependsOnDatabaseInitialization
    Locks bitjangLocks(
            BitjangProperties settings,
            LockConnections connections,
            Environment environment,
            ObjectProvider<LockListener> listeners) {
        String owner = Owners.of(settings.owner(), environment.getProperty("spring.application.name"));
        return new LocksFactory(settings, owner, listeners.orderedStream().toList()).create(connections.own());
    }

    /** Also for an application with its own {@link Locks}: then it follows the data source that the settings name, or the only one. */
    @Bean
    @Conditional(NoLockManager.class)
    TransactionalLockManager bitjangTransactionalLockManager(
            Locks locks,
            BitjangProperties settings,
            ConfigurableListableBeanFactory beans,
            ObjectProvider<LockConnections> connections,
            ObjectProvider<DataSource> all,
            ObjectProvider<LockObserver> observer,
            ObjectProvider<LockListener> listeners) {
        @Nullable LockConnections ours = connections.getIfAvailable();
        // the listeners of an application's own Locks are its own business
        ReleaseEvents releases = new ReleaseEvents(
                ours == null ? List.of() : listeners.orderedStream().toList());
        LockManager manager = new ObservedLockManager(locks.manager(), observer.getIfAvailable(), releases);
        DataSource followed = ours != null
                ? ours.transactions()
                : new DataSources(beans, all, null)
                        .choose(settings.dataSource())
                        .transactions();
        return new TransactionalLockManager(manager, followed);
    }

    @Bean
    @ConditionalOnMissingBean
    LockAdmin bitjangLockAdmin(Locks locks) {
        return locks.admin();
    }

    @Bean
    LocksLifecycle bitjangLifecycle(Locks locks) {
        return new LocksLifecycle(locks);
    }

    /** None but the one that {@code @EnableLocking} keeps for who has no other. */
    static final class NoLockManager extends SpringBootCondition implements ConfigurationCondition {

        @Override
        public ConfigurationPhase getConfigurationPhase() {
            return ConfigurationPhase.REGISTER_BEAN;
        }

        @Override
        public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
            ConfigurableListableBeanFactory beans = Objects.requireNonNull(context.getBeanFactory());
            List<String> found = Arrays.stream(beans.getBeanNamesForType(LockManager.class, true, false))
                    .filter(name -> !beans.containsBeanDefinition(name)
                            || !beans.getBeanDefinition(name).isFallback())
                    .toList();
            return new ConditionOutcome(
                    found.isEmpty(),
                    ConditionMessage.forCondition("LockManager")
                            .because("the application has " + (found.isEmpty() ? "none" : found)));
        }
    }
}
