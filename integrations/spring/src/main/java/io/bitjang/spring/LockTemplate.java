// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring;

import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.spring.internal.LockRequest;
import io.bitjang.spring.internal.LockScopes;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What {@link Locked} does, in code: for a name that is computed, a part of a method, or a call inside the same class.
 *
 * <pre>{@code
 * template.run("order:" + id, Wait.upTo(Duration.ofSeconds(2)), () -> orders.ship(id));
 * }</pre>
 *
 * <p>Transactions that begin inside are guarded before their commit; a transaction that is there already is guarded at once, and keeps
 * the lock until it has ended. {@code run} and {@code call} throw if the lock can't be had, {@code tryRun} answers. Lock exceptions
 * are Spring's ({@link LockExceptionTranslator}); those of the body stay as they are. The settings return a changed copy: immutable
 * and thread-safe. {@link EnableLocking} makes one.
 */
public final class LockTemplate {

    private static final String WHO = "A LockTemplate";

    private final LockScopes scopes;
    private final LockRequest settings;

    LockTemplate(LockScopes scopes) {
        this(scopes, LockRequest.of(LockName.of("template"), Locked.Kind.LEASE, Wait.none()));
    }

    private LockTemplate(LockScopes scopes, LockRequest settings) {
        this.scopes = scopes;
        this.settings = settings;
    }

    /** With locks of this kind; {@link Locked.Kind#LEASE} unless set. A session lock has none of the other settings. */
    public LockTemplate kind(Locked.Kind kind) {
        return with(settings.kind(Objects.requireNonNull(kind, "kind")));
    }

    /** With leases of this duration between renewals; that of the {@link Locks} unless set. */
    public LockTemplate lasting(Duration duration) {
        return with(settings.lasting(Objects.requireNonNull(duration, "duration")));
    }

    /** With leases that are renewed for at most this long. */
    public LockTemplate maxHold(Duration duration) {
        return with(settings.maxHold(Objects.requireNonNull(duration, "duration")));
    }

    /** With leases that stay taken at least this long, even when the body ends earlier. */
    public LockTemplate notFreeBefore(Duration duration) {
        return with(settings.notFreeBefore(Objects.requireNonNull(duration, "duration")));
    }

    private LockTemplate with(LockRequest changed) {
        return new LockTemplate(scopes, changed);
    }

    /** Waits for the lock with this plain name, runs the task under it, releases. */
    public <X extends Exception> void run(String name, Wait wait, Locks.Task<X> task) throws X {
        run(LockName.of(name), wait, task);
    }

    /**
     * Waits for the lock, runs the task under it, releases.
     *
     * @throws org.springframework.dao.CannotAcquireLockException if someone else has it until the end of the wait
     * @throws org.springframework.dao.PessimisticLockingFailureException if it was lost while the task ran and no guarded transaction
     *     was committed
     */
    public <X extends Exception> void run(LockName name, Wait wait, Locks.Task<X> task) throws X {
        Objects.requireNonNull(task, "task");
        scopes.call(request(name, wait), WHO, () -> {
            task.run();
            return true;
        });
    }

    /** Waits for the lock with this plain name, calls the function under it, releases. */
    public <T extends @Nullable Object, X extends Exception> T call(String name, Wait wait, Locks.Call<T, X> call)
            throws X {
        return call(LockName.of(name), wait, call);
    }

    /**
     * Waits for the lock, calls the function under it, releases.
     *
     * @throws org.springframework.dao.CannotAcquireLockException if someone else has it until the end of the wait
     * @throws org.springframework.dao.PessimisticLockingFailureException if it was lost while the function ran and no guarded
     *     transaction was committed
     */
    public <T extends @Nullable Object, X extends Exception> T call(LockName name, Wait wait, Locks.Call<T, X> call)
            throws X {
        return scopes.call(request(name, wait), WHO, Objects.requireNonNull(call, "call"));
    }

    /** Runs the task under the lock with this plain name, or answers false if someone else has it until the end of the wait. */
    public <X extends Exception> boolean tryRun(String name, Wait wait, Locks.Task<X> task) throws X {
        return tryRun(LockName.of(name), wait, task);
    }

    /** Runs the task under the lock, or answers false if someone else has it until the end of the wait. */
    public <X extends Exception> boolean tryRun(LockName name, Wait wait, Locks.Task<X> task) throws X {
        return scopes.tryRun(request(name, wait), WHO, Objects.requireNonNull(task, "task"));
    }

    private LockRequest request(LockName name, Wait wait) {
        return settings.named(Objects.requireNonNull(name, "name"), Objects.requireNonNull(wait, "wait"));
    }

    @Override
    public String toString() {
        return "LockTemplate[" + settings.kind() + "]";
    }
}
