// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.internal;

import io.bitjang.spring.Locked;
import io.bitjang.spring.LockingSettings;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.aopalliance.aop.Advice;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.interceptor.AsyncExecutionAspectSupport;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.Ordered;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.util.ClassUtils;

/**
 * Looks at every bean with {@code @Locked} methods as it is created: whether it has a proxy that takes the lock, whether transactions
 * and threads are in the right order around it, and whether the object calls such a method of its own, past the proxy.
 *
 * <p>Has no order, so that it comes after the post-processors that add advisors. Thread-safe.
 */
public final class LockedBeans implements BeanPostProcessor, SmartInitializingSingleton {

    private static final Log log = LogFactory.getLog(LockedBeans.class);

    private final ConfigurableListableBeanFactory beans;
    private final LockedMethods methods;
    private final Supplier<LockingSettings> settings;
    private final Set<Class<?>> selfChecked = ConcurrentHashMap.newKeySet();

    /** Asks for the settings when they are needed first. */
    public LockedBeans(
            ConfigurableListableBeanFactory beans, LockedMethods methods, Supplier<LockingSettings> settings) {
        this.beans = beans;
        this.methods = methods;
        this.settings = settings;
    }

    @Override
    public @Nullable Object postProcessAfterInitialization(Object bean, String beanName) {
        check(bean, beanName);
        return bean;
    }

    /** Those that were created before this was there: they may have missed the proxy as well. */
    @Override
    public void afterSingletonsInstantiated() {
        for (String name : beans.getSingletonNames()) {
            @Nullable Object bean = beans.getSingleton(name);
            if (bean != null) {
                check(bean, name);
            }
        }
    }

    private void check(Object bean, String beanName) {
        Class<?> type = ClassUtils.getUserClass(AopProxyUtils.ultimateTargetClass(bean));
        if (!LockedMethods.isCandidate(type) || type.isInterface()) {
            return;
        }
        Map<Method, LockedMethod> locked = methods.of(type);
        if (locked.isEmpty()) {
            return;
        }
        List<Advisor> chain = chain(bean);
        locked.forEach((method, lock) -> checkOrder(chain, type, method, lock, beanName));
        if (selfChecked.add(type)) {
            checkSelfInvocations(type, locked);
        }
    }

    /** The advisors around the object, from the outermost, through all its proxies. */
    private static List<Advisor> chain(Object bean) {
        List<Advisor> chain = new ArrayList<>();
        @Nullable Object layer = bean;
        while (layer instanceof Advised advised) {
            chain.addAll(List.of(advised.getAdvisors()));
            layer = AopProxyUtils.getSingletonTarget(layer);
        }
        return chain;
    }

    private void checkOrder(List<Advisor> chain, Class<?> type, Method method, LockedMethod lock, String beanName) {
        List<Advisor> around =
                chain.stream().filter(advisor -> applies(advisor, method, type)).toList();
        int own = index(around, LockedInterceptor.class);
        if (own < 0) {
            throw new IllegalStateException(
                    lock + " has no effect: the bean '" + beanName + "' has no proxy that takes the"
                            + " lock. It was created before the proxies could be made, by a BeanPostProcessor or something that one"
                            + " needs; or the method can't be reached through the bean's interfaces.");
        }
        int transaction = index(around, TransactionAspectSupport.class);
        if (transaction >= 0 && transaction < own) {
            throw new IllegalStateException(
                    lock + " would be taken inside the method's transaction, and be free before that"
                            + " commits: the transaction's advisor has the order " + order(around.get(transaction))
                            + ", the lock's " + order(around.get(own)) + ". Give the transactions a larger order"
                            + " (@EnableTransactionManagement(order = ...), by default the largest), or the lock a smaller one"
                            + " (a bean LockingSettings.defaults().withOrder(...)).");
        }
        if (transaction >= 0 && lock.kind() == Locked.Kind.LEASE && ManagedTransactions.areAllOfJta(beans)) {
            throw new IllegalStateException(lock + " could not guard the method's transaction. "
                    + ManagedTransactions.JTA_SHOWS_NOTHING + ManagedTransactions.INSTEAD);
        }
        int async = index(around, AsyncExecutionAspectSupport.class);
        if (async > own) {
            throw new IllegalStateException(
                    lock + " would be taken by the caller, and not hold while the method runs on"
                            + " another thread: @Async comes after the lock. Let @EnableAsync have its default order, so that it"
                            + " is applied outside of the lock, or put @Async on a method that calls this one.");
        }
    }

    private static boolean applies(Advisor advisor, Method method, Class<?> type) {
        return !(advisor instanceof PointcutAdvisor pointcut)
                || (pointcut.getPointcut().getClassFilter().matches(type)
                        && pointcut.getPointcut().getMethodMatcher().matches(method, type));
    }

    private static int index(List<Advisor> advisors, Class<?> advice) {
        for (int i = 0; i < advisors.size(); i++) {
            Advice found = advisors.get(i).getAdvice();
            if (advice.isInstance(found)) {
                return i;
            }
        }
        return -1;
    }

    private static String order(Advisor advisor) {
        return advisor instanceof Ordered ordered ? String.valueOf(ordered.getOrder()) : "of its proxy";
    }

    private void checkSelfInvocations(Class<?> type, Map<Method, LockedMethod> locked) {
        List<String> calls = SelfInvocations.find(type, locked);
        if (calls.isEmpty()) {
            return;
        }
        String message = "An object that calls its own @Locked method goes past the proxy, and takes no lock: "
                + String.join("; ", calls)
                + ". Use a LockTemplate there, or move the method to another bean.";
        if (settings.get().failOnSelfInvocation()) {
            throw new IllegalStateException(
                    message
                            + " (A bean LockingSettings.defaults().warningOnSelfInvocation() makes it a warning; with Boot bitjang.locked.self-invocation=warn.)");
        }
        log.warn(message);
    }
}
