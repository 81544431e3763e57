// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.internal;

import java.lang.reflect.Method;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import java.util.stream.BaseStream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.util.ClassUtils;

/** When a method's work has ended: as it returns, or later. */
enum ReturnStyle {
    /** When it returns. */
    DIRECT,
    /** When the stage has completed. */
    STAGE,
    /** When the publisher has ended, for each who subscribes. */
    REACTIVE;

    /** They do their work, or a part of it, after the method has returned, and nobody says when it has ended. */
    private static final List<Class<?>> DEFERRED = List.of(
            Future.class, Callable.class, Supplier.class, BaseStream.class, Iterator.class, Flow.Publisher.class);

    private static final List<String> DEFERRED_BY_NAME = List.of(
            "org.reactivestreams.Publisher",
            "org.springframework.web.context.request.async.DeferredResult",
            "org.springframework.web.context.request.async.WebAsyncTask",
            "org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
            "org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody");

    private static final boolean REACTOR =
            ClassUtils.isPresent("reactor.core.publisher.Flux", ReturnStyle.class.getClassLoader());

    static ReturnStyle of(Method method, String where) {
        Class<?> type = method.getReturnType();
        if (CompletionStage.class.isAssignableFrom(type)) {
            if (!type.isAssignableFrom(CompletableFuture.class)) {
                throw refused(type, where);
            }
            return STAGE;
        }
        if (KotlinDetector.isSuspendingFunction(method)) {
            throw new IllegalStateException(where + " is on a suspending function, whose end can't be seen. Use a"
                    + " LockTemplate, or return a Mono.");
        }
        @Nullable ReactiveAdapter adapter = adapter(type);
        if (adapter != null && adapter.getDescriptor().isDeferred()) {
            if (!REACTOR) {
                throw new IllegalStateException(where + " is on a method that returns " + type.getName()
                        + ", for which reactor-core is needed on the class path.");
            }
            return REACTIVE;
        }
        if (adapter != null || isDeferred(type)) {
            throw refused(type, where);
        }
        return DIRECT;
    }

    static @Nullable ReactiveAdapter adapter(Class<?> type) {
        return ReactiveAdapterRegistry.getSharedInstance().getAdapter(type);
    }

    private static boolean isDeferred(Class<?> type) {
        return DEFERRED.stream().anyMatch(deferred -> deferred.isAssignableFrom(type))
                || ClassUtils.getAllInterfacesForClassAsSet(type).stream()
                        .anyMatch(found -> DEFERRED_BY_NAME.contains(found.getName()))
                || superclasses(type);
    }

    private static boolean superclasses(Class<?> type) {
        for (Class<?> found = type; found != null; found = found.getSuperclass()) {
            if (DEFERRED_BY_NAME.contains(found.getName())) {
                return true;
            }
        }
        return false;
    }

    private static IllegalStateException refused(Class<?> type, String where) {
        return new IllegalStateException(where + " is on a method that returns " + type.getName()
                + ": the lock would be free before its work is done. Return the result itself, a CompletableFuture or a"
                + " reactive type, or use a LockTemplate where the work is done.");
    }

    /** What a method answers that was skipped. */
    static @Nullable Object skipped(Method method, String where) {
        Class<?> type = method.getReturnType();
        if (type == void.class || type == Void.class) {
            return null;
        }
        if (type == Optional.class) {
            return Optional.empty();
        }
        if (type == boolean.class || type == Boolean.class) {
            return false;
        }
        throw new IllegalStateException(where + " says SKIP, but the method returns " + type.getName()
                + ", which can't say that it was skipped. Return void, an Optional or a boolean, or use THROW.");
    }
}
