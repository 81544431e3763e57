// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import io.bitjang.spring.web.EditLocks;
import io.bitjang.spring.web.RequiresEditLock;
import jakarta.servlet.Servlet;
import java.lang.reflect.Method;
import java.util.Set;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.stereotype.Controller;
import org.springframework.util.ClassUtils;
import org.springframework.web.servlet.function.RouterFunction;

/**
 * Stops the start of an application whose handlers require an edit lock that nobody would look at, because edit locks are switched
 * off, or no type was named: an annotation without an effect is worse than none. Tests of the web layer alone ({@code @WebMvcTest})
 * have it too: a handler that is not guarded there would be tested without its lock.
 */
@AutoConfiguration(after = BitjangWebAutoConfiguration.class)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass({Servlet.class, RouterFunction.class})
@ConditionalOnMissingBean(EditLocks.class)
public final class BitjangHandlersAutoConfiguration {

    @Bean
    static SmartInitializingSingleton bitjangUnguardedHandlers(ConfigurableListableBeanFactory beans) {
        return () -> {
            for (String name : beans.getBeanNamesForAnnotation(Controller.class)) {
                Class<?> type = beans.getType(name);
                if (type != null) {
                    requireNone(ClassUtils.getUserClass(type));
                }
            }
        };
    }

    private static void requireNone(Class<?> controller) {
        Set<Method> handlers = MethodIntrospector.selectMethods(
                controller, (Method method) -> AnnotatedElementUtils.hasAnnotation(method, RequiresEditLock.class));
        if (!handlers.isEmpty()) {
            Method handler = handlers.iterator().next();
            throw new LocksStartException(
                    "@RequiresEditLock on " + controller.getName() + "." + handler.getName()
                            + " has no effect: there are no edit locks, so anybody could save without one.",
                    "Name the types that may be locked over HTTP (bitjang.edit-locks.types), or define an EditLockPolicy bean;"
                            + " and don't switch them off (bitjang.enabled, bitjang.edit-locks.enabled). They need a data source, a"
                            + " transaction manager, and a LockManager bean that is a TransactionalLockManager. A test with"
                            + " @WebMvcTest has no database by itself: add @AutoConfigureJdbc and"
                            + " @ImportAutoConfiguration({BitjangAutoConfiguration.class, BitjangWebAutoConfiguration.class}),"
                            + " or use @SpringBootTest with @AutoConfigureMockMvc.",
                    null);
        }
    }
}
