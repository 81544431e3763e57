// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.internal;

import io.bitjang.spring.Locked;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.BridgeMethodResolver;
import org.springframework.core.MethodClassKey;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.expression.BeanResolver;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Which methods are {@link Locked}: by themselves, by a method that they override or implement, or by their class. Remembers what it
 * has found. Thread-safe.
 */
public final class LockedMethods {

    private final UnaryOperator<String> placeholders;
    private final @Nullable BeanResolver beans;
    private final Map<MethodClassKey, Optional<LockedMethod>> found = new ConcurrentHashMap<>();

    /** With what resolves placeholders, and beans in expressions. */
    public LockedMethods(UnaryOperator<String> placeholders, @Nullable BeanResolver beans) {
        this.placeholders = placeholders;
        this.beans = beans;
    }

    static boolean isCandidate(Class<?> type) {
        return !type.getName().startsWith("org.springframework.")
                && AnnotationUtils.isCandidateClass(type, Locked.class);
    }

    /** All of a class. */
    Map<Method, LockedMethod> of(Class<?> type) {
        return MethodIntrospector.selectMethods(
                type, (Method method) -> find(method, type).orElse(null));
    }

    /** The lock of a method, when called on an object of this class. */
    Optional<LockedMethod> find(Method method, Class<?> targetClass) {
        return found.computeIfAbsent(new MethodClassKey(method, targetClass), key -> read(method, targetClass));
    }

    private Optional<LockedMethod> read(Method method, Class<?> targetClass) {
        if (ReflectionUtils.isObjectMethod(method) || (method.isSynthetic() && !method.isBridge())) {
            return Optional.empty();
        }
        Class<?> userClass = ClassUtils.getUserClass(targetClass);
        Method specific = BridgeMethodResolver.findBridgedMethod(AopUtils.getMostSpecificMethod(method, userClass));
        MergedAnnotation<Locked> own =
                MergedAnnotations.from(specific, SearchStrategy.TYPE_HIERARCHY).get(Locked.class);
        if (own.isPresent()) {
            Method carrier = own.getSource() instanceof Method source ? source : specific;
            return Optional.of(new LockedMethod(own.synthesize(), specific, carrier, placeholders, beans));
        }
        if (!Modifier.isPublic(specific.getModifiers())
                || Modifier.isStatic(specific.getModifiers())
                || specific.getDeclaringClass().equals(Object.class)) {
            return Optional.empty();
        }
        MergedAnnotation<Locked> ofClass =
                MergedAnnotations.from(userClass, SearchStrategy.TYPE_HIERARCHY).get(Locked.class);
        return ofClass.isPresent()
                ? Optional.of(new LockedMethod(ofClass.synthesize(), specific, specific, placeholders, beans))
                : Optional.empty();
    }
}
