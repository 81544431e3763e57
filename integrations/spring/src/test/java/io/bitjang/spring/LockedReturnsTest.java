// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.bitjang.Lease;
import io.bitjang.LockName;
import io.bitjang.SessionLock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.PessimisticLockingFailureException;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** How long the lock is held by what a method returns, and what comes back when someone else has it. */
class LockedReturnsTest extends OnSpring {

    @Configuration
    @EnableLocking
    static class Application {
        @Bean
        Work work() {
            return new Work();
        }
    }

    static class Work {
        private final AtomicBoolean called = new AtomicBoolean();

        // asked through the proxy
        public boolean wasCalled() {
            return called.get();
        }

        @Locked("#{#name}")
        public CompletionStage<String> stage(String name, CompletionStage<String> stage) {
            return stage;
        }

        @Locked("#{#name}")
        public CompletableFuture<String> failing(String name) {
            throw new IllegalArgumentException("own");
        }

        @Locked(value = "#{#name}", waitFor = "forever")
        public Mono<String> mono(String name, Mono<String> mono) {
            called.set(true);
            return mono;
        }

        @Locked("#{#name}")
        public Flux<String> flux(String name, Flux<String> flux) {
            return flux;
        }

        @Locked("#{#name}")
        public Flow.Publisher<String> flow(String name) {
            return JdkFlowAdapter.publisherToFlowPublisher(Flux.just("a"));
        }

        @Locked(value = "#{#name}", kind = Locked.Kind.SESSION, waitFor = "30s")
        public Mono<String> session(String name, Mono<String> mono) {
            return mono;
        }

        @Locked(value = "#{#name}", onContention = Locked.OnContention.SKIP)
        public Optional<String> maybe(String name) {
            called.set(true);
            return Optional.of("done");
        }

        @Locked(value = "#{#name}", onContention = Locked.OnContention.SKIP)
        public boolean whether(String name) {
            called.set(true);
            return true;
        }

        @Locked(value = "#{#name}", onContention = Locked.OnContention.SKIP, kind = Locked.Kind.SESSION)
        public void nothing(String name) {
            called.set(true);
        }

        @Locked("#{#name}")
        public int number(String name) {
            return 1;
        }

        @Locked(value = "#{#name}", waitFor = "2s")
        public int patient(String name) {
            return 1;
        }
    }

    private Work work;
    private String name;

    @BeforeEach
    void start() {
        work = context(Application.class).getBean(Work.class);
        name = "return " + account;
    }

    private boolean held() {
        return isHeld(LockName.of(name));
    }

    @Test
    void stage_holds_the_lock_until_it_is_complete() throws Exception {
        CompletableFuture<String> inner = new CompletableFuture<>();

        CompletionStage<String> outer = work.stage(name, inner);
        assertThat(held()).isTrue();
        inner.complete("done");

        assertThat(result(outer.toCompletableFuture())).isEqualTo("done");
        assertThat(held()).isFalse();
    }

    @Test
    void stage_that_fails_frees_the_lock_and_keeps_its_exception() {
        IllegalArgumentException own = new IllegalArgumentException("own");

        CompletionStage<String> outer = work.stage(name, CompletableFuture.failedFuture(own));

        assertThatThrownBy(() -> result(outer.toCompletableFuture()))
                .isInstanceOf(ExecutionException.class)
                .hasCause(own);
        assertThat(held()).isFalse();
        assertThatThrownBy(() -> work.failing(name)).hasMessage("own");
        assertThat(held()).isFalse();
    }

    @Test
    void stage_that_is_cancelled_frees_the_lock_and_cancels_the_method_s_own() {
        CompletableFuture<String> inner = new CompletableFuture<>();

        work.stage(name, inner).toCompletableFuture().cancel(true);

        assertThat(inner).isCancelled();
        assertThat(held()).isFalse();
    }

    @Test
    void stage_whose_caller_does_not_wait_for_its_end_frees_the_lock_when_it_has_come() {
        CompletableFuture<String> inner = new CompletableFuture<>();
        work.stage(name, inner).toCompletableFuture().completeExceptionally(new TimeoutException());
        assertThat(held()).isTrue();

        inner.complete("done");

        assertThat(held()).isFalse();
    }

    @Test
    void stage_under_a_lock_that_was_lost_fails() {
        CompletableFuture<String> inner = new CompletableFuture<>();
        CompletionStage<String> outer = work.stage(name, inner);
        long fence = other.admin().find(LockName.of(name)).orElseThrow().fence();
        other.admin().forceRelease(LockName.of(name), fence, "admin", "test");

        inner.complete("done");

        assertThatThrownBy(() -> result(outer.toCompletableFuture()))
                .hasCauseInstanceOf(PessimisticLockingFailureException.class);
    }

    @Test
    void stage_is_off_the_thread_when_the_method_has_returned() throws Exception {
        CompletableFuture<String> inner = new CompletableFuture<>();
        CompletionStage<String> outer = work.stage(name, inner);

        assertThat(catchThrowable(() -> work.number(name)))
                .as("not joined: the method has ended")
                .isInstanceOf(CannotAcquireLockException.class);

        inner.complete("done");
        result(outer.toCompletableFuture());
        assertThat(work.number(name)).isOne();
    }

    @Test
    void mono_takes_the_lock_when_someone_subscribes_and_calls_the_method_then() {
        Mono<String> mono = work.mono(name, Mono.fromCallable(() -> "held: " + held()));
        assertThat(held()).isFalse();
        assertThat(work.wasCalled()).isFalse();

        assertThat(mono.block(PATIENCE)).isEqualTo("held: true");
        assertThat(held()).isFalse();
        assertThat(mono.block(PATIENCE)).as("once more").isEqualTo("held: true");
        assertThat(trace).containsExactly("lock", "unlock", "lock", "unlock");
    }

    @Test
    void subscriber_s_thread_does_not_wait_and_a_cancelled_wait_ends() throws Exception {
        Lease holder = other.lease(name).tryAcquire().orElseThrow();

        // this returns at once although the lock is taken
        Disposable waiting = work.mono(name, Mono.just("done")).subscribe();
        waiting.dispose();
        CompletableFuture<String> second = work.mono(name, Mono.just("done")).toFuture();
        assertThat(second).isNotDone();
        holder.close();

        assertThat(result(second)).isEqualTo("done");
        assertThat(held()).isFalse();
    }

    @Test
    void mono_that_is_cancelled_frees_the_lock() throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        Disposable subscription = work.mono(name, Mono.<String>never().doOnSubscribe(s -> running.countDown()))
                .subscribe();
        await(running);
        assertThat(held()).isTrue();

        subscription.dispose();

        await("the release", () -> !held());
    }

    @Test
    void mono_that_fails_frees_the_lock_and_keeps_its_exception() {
        IllegalArgumentException own = new IllegalArgumentException("own");

        assertThat(catchThrowable(() -> work.mono(name, Mono.error(own)).block(PATIENCE)))
                .isSameAs(own);

        assertThat(held()).isFalse();
    }

    @Test
    void refused_mono_fails_with_spring_s_exception() {
        Lease holder = other.lease(name).tryAcquire().orElseThrow();

        assertThatThrownBy(() -> work.flux(name, Flux.just("a")).blockLast(PATIENCE))
                .isInstanceOf(CannotAcquireLockException.class);

        holder.close();
    }

    @Test
    void flux_holds_the_lock_until_its_end() throws Exception {
        Sinks.Many<String> source = Sinks.many().unicast().onBackpressureBuffer();
        CompletableFuture<List<String>> all =
                work.flux(name, source.asFlux()).collectList().toFuture();
        source.tryEmitNext("a").orThrow();
        await("the lock", this::held);
        source.tryEmitNext("b").orThrow();
        source.tryEmitComplete().orThrow();

        assertThat(result(all)).containsExactly("a", "b");
        assertThat(held()).isFalse();
    }

    @Test
    void publisher_of_the_jdk_and_session_locks_work_the_same() {
        assertThat(JdkFlowAdapter.flowPublisherToFlux(work.flow(name)).blockLast(PATIENCE))
                .isEqualTo("a");
        assertThat(work.session(
                                name,
                                Mono.fromCallable(() -> "free: "
                                        + other.session(name).tryAcquire().isPresent()))
                        .block(PATIENCE))
                .isEqualTo("free: false");
        assertThat(other.session(name).tryAcquire()).hasValueSatisfying(SessionLock.Hold::close);
    }

    @Test
    void skipped_method_is_not_called_and_says_so() {
        Lease holder = other.lease(name).tryAcquire().orElseThrow();

        assertThat(work.maybe(name)).isEmpty();
        assertThat(work.whether(name)).isFalse();
        try (var session = other.session(name).tryAcquire().orElseThrow()) {
            work.nothing(name);
        }
        assertThat(work.wasCalled()).isFalse();
        holder.close();

        assertThat(work.maybe(name)).contains("done");
        assertThat(work.whether(name)).isTrue();
        assertThat(work.wasCalled()).isTrue();
    }

    @Test
    void contention_is_spring_s_exception_after_the_wait() {
        Lease holder =
                other.lease(name).lasting(Duration.ofSeconds(10)).tryAcquire().orElseThrow();

        assertThatThrownBy(() -> work.patient(name))
                .isInstanceOf(CannotAcquireLockException.class)
                .hasMessageContaining("two");
        holder.close();

        assertThat(work.number(name)).isOne();
    }
}
