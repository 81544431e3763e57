// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.internal;

import io.bitjang.spring.LockingSettings;
import java.lang.reflect.Method;
import java.util.function.Supplier;
import org.aopalliance.aop.Advice;
import org.springframework.aop.Pointcut;
import org.springframework.aop.support.AbstractPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;

/** Puts {@link LockedInterceptor} around the methods that are {@code @Locked}, outside of their transactions. */
public final class LockedAdvisor extends AbstractPointcutAdvisor {

    private static final long serialVersionUID = 1L;

    private final transient Supplier<LockingSettings> settings;
    private final transient Pointcut pointcut;
    private final transient Advice advice;

    /** Asks for the settings when they are needed first. */
    public LockedAdvisor(LockScopes scopes, LockedMethods methods, Supplier<LockingSettings> settings) {
        this.settings = settings;
        this.pointcut = new LockedPointcut(methods);
        this.advice = new LockedInterceptor(scopes, methods);
    }

    @Override
    public int getOrder() {
        return settings.get().order();
    }

    @Override
    public Pointcut getPointcut() {
        return pointcut;
    }

    @Override
    public Advice getAdvice() {
        return advice;
    }

    private static final class LockedPointcut extends StaticMethodMatcherPointcut {

        private final LockedMethods methods;

        LockedPointcut(LockedMethods methods) {
            this.methods = methods;
            setClassFilter(LockedMethods::isCandidate);
        }

        @Override
        public boolean matches(Method method, Class<?> targetClass) {
            return methods.find(method, targetClass).isPresent();
        }
    }
}
