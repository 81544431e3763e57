// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.internal;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;

/** Lets every transaction manager tell of the transactions that it begins, so that those under locks are guarded. Thread-safe. */
public final class GuardingListeners implements BeanPostProcessor, SmartInitializingSingleton {

    private final ConfigurableListableBeanFactory beans;
    private final LockScopes scopes;

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
        if (bean instanceof ConfigurableTransactionManager manager
                && bean instanceof PlatformTransactionManager
                && !manager.getTransactionExecutionListeners().contains(scopes)) {
            manager.addListener(scopes);
        }
    }
}
