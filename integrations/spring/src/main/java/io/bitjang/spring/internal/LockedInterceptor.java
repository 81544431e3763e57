// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.internal;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.AopUtils;

/** Runs methods under their locks. Thread-safe. */
final class LockedInterceptor implements MethodInterceptor {

    private final LockScopes scopes;
    private final LockedMethods methods;

    LockedInterceptor(LockScopes scopes, LockedMethods methods) {
        this.scopes = scopes;
        this.methods = methods;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        @Nullable Object target = invocation.getThis();
        Class<?> targetClass =
                target == null ? invocation.getMethod().getDeclaringClass() : AopUtils.getTargetClass(target);
        LockedMethod method = methods.find(invocation.getMethod(), targetClass)
                .orElseThrow(() -> new IllegalStateException(invocation.getMethod() + " is not @Locked"));
        LockRequest request = method.request(invocation.getArguments());
        if (method.style() == ReturnStyle.REACTIVE) {
            // the call itself belongs to each subscription, after this method has returned
            return ReactiveCalls.call(
                    scopes,
                    request,
                    invocation.getMethod().getReturnType(),
                    () -> ((ProxyMethodInvocation) invocation).invocableClone());
        }
        @Nullable
        Scope scope =
                method.skips() ? scopes.tryOpen(request, method.toString()) : scopes.open(request, method.toString());
        return scope == null ? method.skipped() : proceed(invocation, scope);
    }

    private static @Nullable Object proceed(MethodInvocation invocation, Scope scope) throws Throwable {
        @Nullable Object result;
        try {
            result = invocation.proceed();
        } catch (Throwable e) {
            scope.end(e);
            throw e;
        }
        if (result instanceof CompletionStage<?> stage) {
            scope.leaveThread();
            return untilDone(stage, scope);
        }
        scope.end(null);
        return result;
    }

    /**
     * A future of its own, and no dependent of the method's: one that the caller completes (by a time-out, say) would never free the
     * lock.
     */
    private static <T> CompletionStage<T> untilDone(CompletionStage<T> stage, Scope scope) {
        CompletableFuture<T> told = new CompletableFuture<>();
        stage.whenComplete((value, failure) -> {
            try {
                scope.endElsewhere(failure);
            } catch (RuntimeException e) {
                told.completeExceptionally(e);
                return;
            }
            if (failure != null) {
                told.completeExceptionally(failure);
            } else {
                told.complete(value);
            }
        });
        told.whenComplete((value, failure) -> {
            if (told.isCancelled()) {
                stage.toCompletableFuture().cancel(true);
            }
        });
        return told;
    }
}
