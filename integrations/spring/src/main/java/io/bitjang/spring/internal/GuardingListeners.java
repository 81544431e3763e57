// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.internal;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;

/** Lets every transaction manager tell of the transactions that it begins, so that those under locks are guarded. Thread-safe. */
public final class GuardingListeners implements BeanPostProcessor, SmartInitializingSingleton {

    private static final Log log = LogFactory.getLog(GuardingListeners.class);

    private final ConfigurableListableBeanFactory beans;
    private final LockScopes scopes;
    private final Set<PlatformTransactionManager> deaf = ConcurrentHashMap.newKeySet();

    /** For these. */
    public GuardingListeners(ConfigurableListableBeanFactory beans, LockScopes scopes) {
        this.beans = beans;
        this.scopes = scopes;
    }

    @Override
    public @Nullable Object postProcessAfterInitialization(Object bean, String beanName) {
        listen(bean);
        return bean;
    }

    /** Those that were created before this was there. */
    @Override
    public void afterSingletonsInstantiated() {
        for (String name : beans.getSingletonNames()) {
            @Nullable Object bean = beans.getSingleton(name);
            if (bean != null) {
                listen(bean);
            }
        }
    }

    private void listen(Object bean) {
        if (!(bean instanceof PlatformTransactionManager platform)) {
            return;
        }
        if (!(bean instanceof ConfigurableTransactionManager manager)) {
            if (deaf.add(platform)) {
                log.warn(
                        "The transaction manager " + bean.getClass().getName()
                                + " tells nobody of its transactions (it is no ConfigurableTransactionManager), so those that begin"
                                + " under locks are guarded only if another transaction manager, which is a bean, begins them.");
            }
            return;
        }
        if (manager.getTransactionExecutionListeners().stream()
                .noneMatch(listener -> listener instanceof ManagedTransactions ours && ours.isOf(scopes))) {
            ManagedTransactions listener = new ManagedTransactions(platform, scopes);
            manager.addListener(listener);
            scopes.listenTo(listener);
        }
    }
}
