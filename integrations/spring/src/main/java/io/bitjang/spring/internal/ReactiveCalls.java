// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.internal;

import io.bitjang.Lease;
import io.bitjang.LockException;
import io.bitjang.spring.Locked.Kind;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.core.ReactiveAdapter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Schedulers;

/**
 * Methods whose work is done when someone subscribes: each subscription takes the lock, calls the method, and gives the lock back when
 * the method's publisher has ended or was cancelled. Needs Reactor. The subscriber's thread never waits: what talks to the database
 * runs on threads of the locks, or on Reactor's elastic ones.
 */
final class ReactiveCalls {

    private ReactiveCalls() {}

    static Object call(
            LockScopes scopes, LockRequest request, Class<?> returnType, Supplier<MethodInvocation> invocation) {
        ReactiveAdapter adapter = Objects.requireNonNull(ReturnStyle.adapter(returnType), "no adapter");
        Mono<Holding> acquired = (request.kind() == Kind.LEASE ? lease(scopes, request) : session(scopes, request))
                .onErrorMap(LockException.class, LockExceptions::translate)
                .publishOn(Schedulers.boundedElastic());
        Publisher<?> result = adapter.isMultiValue()
                ? Flux.usingWhen(
                                acquired,
                                held -> publisher(adapter, invocation.get()),
                                held -> leave(held, null),
                                ReactiveCalls::leave,
                                ReactiveCalls::cancelled)
                        .doOnDiscard(Holding.class, Holding::leaveQuietly)
                : Mono.usingWhen(
                                acquired,
                                held -> Mono.from(publisher(adapter, invocation.get())),
                                held -> leave(held, null),
                                ReactiveCalls::leave,
                                ReactiveCalls::cancelled)
                        .doOnDiscard(Holding.class, Holding::leaveQuietly);
        return adapter.fromPublisher(result);
    }

    private static Mono<Holding> lease(LockScopes scopes, LockRequest request) {
        return Mono.create(sink -> {
            CompletableFuture<Lease> lease = request.lease(scopes.locks())
                    .acquireAsync(request.patience())
                    .toCompletableFuture();
            sink.onCancel(() -> lease.cancel(false));
            lease.whenComplete((granted, failure) -> answer(sink, granted, failure));
        });
    }

    private static void answer(MonoSink<Holding> sink, @Nullable Lease granted, @Nullable Throwable failure) {
        if (granted != null) {
            // discarded, and so given back, if nobody waits any more
            sink.success(Holding.of(granted));
        } else if (failure != null) {
            sink.error(failure);
        }
    }

    private static Mono<Holding> session(LockScopes scopes, LockRequest request) {
        return Mono.fromCallable(() -> Holding.acquire(scopes.locks(), request))
                .subscribeOn(Schedulers.boundedElastic());
    }

    @SuppressWarnings("unchecked")
    private static Publisher<Object> publisher(ReactiveAdapter adapter, MethodInvocation invocation) {
        try {
            @Nullable Object returned = invocation.proceed();
            return (Publisher<Object>) (Publisher<?>) adapter.toPublisher(returned);
        } catch (Throwable e) {
            return Mono.error(e);
        }
    }

    private static Mono<Void> leave(Holding held, @Nullable Throwable failure) {
        return Mono.<Void>fromRunnable(() -> held.leave(failure)).subscribeOn(Schedulers.boundedElastic());
    }

    private static Mono<Void> cancelled(Holding held) {
        return Mono.<Void>fromRunnable(held::leaveQuietly).subscribeOn(Schedulers.boundedElastic());
    }
}
