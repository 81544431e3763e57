// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import io.bitjang.Locks;
import io.bitjang.spring.TransactionalLockManager;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Set;
import org.springframework.aop.Advisor;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/** The guard of the application's own handlers. */
@Configuration(proxyBeanMethods = false)
@Import(EditLockGuards.Proxies.class)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
class EditLockGuards {

    /** Outside of {@code @Transactional}, which is at the very end. */
    static final int ORDER = Ordered.LOWEST_PRECEDENCE - 900;

    /** Makes proxies for infrastructure advisors, if nothing of the application's does so already. */
    static final class Proxies implements ImportBeanDefinitionRegistrar {

        @Override
        public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
            AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
        }
    }

    private static final class GuardAdvisor extends StaticMethodMatcherPointcutAdvisor {

        private static final long serialVersionUID = 1L;

        private final transient EditLockGuard guard;

        GuardAdvisor(EditLockGuard guard) {
            super(guard);
            this.guard = guard;
            setOrder(ORDER);
        }

        @Override
        public boolean matches(Method method, Class<?> target) {
            Method specific = AopUtils.getMostSpecificMethod(method, target);
            boolean matches = Guarded.isOn(specific);
            if (matches) {
                guard.guarded(specific, target); // at start-up: what is wrong stops it
            }
            return matches;
        }
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static EditLockGuard bitjangEditLockGuard(
            ObjectProvider<TransactionalLockManager> manager,
            ObjectProvider<PlatformTransactionManager> transactions,
            ObjectProvider<EditLockPolicy> policy,
            ObjectProvider<EditLockSettings> settings,
            ObjectProvider<EditLockVersions> versions,
            EditLockSignal signal,
            BeanFactory beans) {
        return new EditLockGuard(manager, transactions, policy, settings, versions, signal, beans);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static Advisor bitjangEditLockAdvisor(EditLockGuard guard) {
        return new GuardAdvisor(guard);
    }

    @Bean
    static EditLockMvc bitjangEditLockMvc(
            ObjectProvider<Locks> locks,
            ObjectProvider<EditLockPolicy> policy,
            ObjectProvider<EditLockSettings> settings) {
        return new EditLockMvc(() ->
                new Problems(locks.getObject().admin(), EditLockConfiguration.policy(policy, settings.getObject())));
    }

    /** What can be checked only when all handlers are known. */
    @Bean
    static SmartInitializingSingleton bitjangEditLockCheck(
            ObjectProvider<RequestMappingHandlerMapping> mappings,
            EditLockGuard guard,
            BeanFactory factory,
            ObjectProvider<EditLockPolicy> policy,
            ObjectProvider<EditLockSettings> settings,
            ObjectProvider<EditLockVersions> versions) {
        return () -> mappings.forEach(mapping -> mapping.getHandlerMethods().forEach((info, handler) -> {
            Method method = handler.getMethod();
            if (!Guarded.isOn(method)) {
                return;
            }
            Guarded guarded = guard.guarded(method, handler.getBeanType());
            guarded.checkPaths(info.getPatternValues());
            if (!isGuarded(handler, factory, guard)) {
                throw Guarded.wrong(
                        method,
                        "has no effect: its controller is not proxied. It was needed too early (by a BeanPostProcessor?), or"
                                + " something else has made it");
            }
            if (guarded.version() && versions.getIfAvailable() == null) {
                throw Guarded.wrong(method, "requires a version, but there is no bean of type EditLockVersions");
            }
            requireTransactions(guard, guarded, method);
            Set<String> types = settings.getObject().types();
            if ((policy.getIfAvailable() == null || !types.isEmpty()) && !types.contains(guarded.type())) {
                throw Guarded.wrong(
                        method,
                        "has the type '" + guarded.type() + "', which is not among the types of the EditLockSettings: "
                                + types);
            }
        }));
    }

    private static void requireTransactions(EditLockGuard guard, Guarded guarded, Method method) {
        try {
            guard.transactions(guarded);
        } catch (NoSuchBeanDefinitionException e) {
            throw Guarded.wrong(
                    method,
                    "does not tell in whose transactions it runs: there are several transaction managers, or none of that name ("
                            + e.getMessage()
                            + "). Name the one of the locks' data source: transactionManager = \"...\"");
        }
    }

    /** An annotation without an effect would be worse than none. */
    private static boolean isGuarded(HandlerMethod handler, BeanFactory factory, EditLockGuard guard) {
        if (handler.getBean() instanceof String name && !factory.isSingleton(name)) {
            return true; // made for each request, and looked at then
        }
        return handler.createWithResolvedBean().getBean() instanceof Advised advised
                && Arrays.stream(advised.getAdvisors())
                        .anyMatch(advisor -> advisor.getAdvice().equals(guard));
    }
}
