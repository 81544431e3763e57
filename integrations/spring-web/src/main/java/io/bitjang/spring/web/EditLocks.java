// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import io.bitjang.AlreadyLockedException;
import io.bitjang.LockData;
import io.bitjang.LockId;
import io.bitjang.LockManager;
import io.bitjang.LockName;
import io.bitjang.NoLockException;
import io.bitjang.admin.LockAdmin;
import java.security.Principal;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Edit locks of people: what the endpoints do, for the application's own controllers.
 *
 * <p>A lock belongs to a person, and to one browser tab of that person: its client id, 8 to 64 letters, digits, {@code -} and
 * {@code _}, which the page chooses. The same tab of the same person {@linkplain #resume resumes} its lock after a reload; another
 * tab has to take it over. All that others get to see hides the client id.
 *
 * <p>Every method first asks the {@link EditLockPolicy}, and throws an {@link org.springframework.web.ErrorResponseException} of
 * status 403 if it says no, or of status 400 if an argument that comes from a request is wrong. Other exceptions are those of
 * {@link LockManager}. Thread-safe.
 */
public final class EditLocks {

    /** A tab that asks twice at the same time moves its own fence on; a third time is enough for that. */
    private static final int ATTEMPTS = 3;

    /**
     * A lock that was just granted or prolonged.
     *
     * @param id the secret of the holder, for the hidden field of the form
     * @param expiresIn what is left of it, at least, counted from when the request was sent
     * @param resumed whether the same tab had it before
     */
    public record Held(LockId id, Duration expiresIn, boolean resumed) {

        /** The number of the grant; no secret. */
        public long fence() {
            return id.fence();
        }
    }

    private final LockManager manager;
    private final LockAdmin admin;
    private final EditLockPolicy policy;
    private final EditLockSettings settings;
    private final Runnable changed;
    private final EditLockQuota quota;
    private final EditLockSweeper sweeper;

    EditLocks(
            LockManager manager, LockAdmin admin, EditLockPolicy policy, EditLockSettings settings, Runnable changed) {
        this.manager = manager;
        this.admin = admin;
        this.policy = policy;
        this.settings = settings;
        this.changed = changed;
        this.quota = new EditLockQuota(admin, settings);
        this.sweeper = new EditLockSweeper(admin, settings.limits().sweepAfter());
    }

    /**
     * Takes the lock, or resumes it if this tab has it already.
     *
     * @param note what others may read
     * @throws AlreadyLockedException if someone else has it, or another tab of the same person
     * @throws org.springframework.web.ErrorResponseException with status 429 if this person holds as many as one may
     */
    public Held open(String type, String id, Principal person, String clientId, @Nullable String note) {
        return open(type, id, person, clientId, note, () -> {});
    }

    /** The same; what is run before resuming, which ends the former lock id, may refuse it. */
    Held open(
            String type, String id, Principal person, String clientId, @Nullable String note, Runnable beforeResuming) {
        LockName name = permitted(type, id, person);
        TabNote tab = TabNote.of(note, Objects.requireNonNull(clientId, "clientId"));
        if (quota.isUsedUp(person) && find(name).isEmpty()) {
            throw quota.refused(); // before a row is made; the own lock of a page that is loaded again is no new one
        }
        AlreadyLockedException refused = null;
        for (int i = 0; i < ATTEMPTS; i++) {
            try {
                LockId granted = manager.tryLock(type, id, person.getName(), settings.lease(), tab.store());
                return opened(granted, person);
            } catch (AlreadyLockedException e) {
                refused = e;
                LockData holder = e.holder().orElse(null);
                if (holder == null || !isOfTab(holder, person, tab)) {
                    break;
                }
                beforeResuming.run();
                Optional<Held> resumed = resumed(holder, person, tab);
                if (resumed.isPresent()) {
                    return changed(resumed.get());
                }
            }
        }
        throw new AlreadyLockedException(
                name,
                refused == null ? null : refused.holder().map(TabNote::hidden).orElse(null),
                "");
    }

    /** Whatever fails after the grant: without its id nobody could give the lock back. */
    private Held opened(LockId granted, Principal person) {
        try {
            // counted again: of those that are taken at the same time, each may have found room
            if (quota.isExceeded(person)) {
                throw quota.refused();
            }
            sweeper.wake();
            return changed(new Held(granted, settings.lease(), false));
        } catch (Throwable e) {
            try {
                manager.releaseLock(granted);
            } catch (RuntimeException late) {
                e.addSuppressed(late); // it runs out with its lease
            }
            throw e;
        }
    }

    private Optional<LockData> find(LockName name) {
        return admin.find(name).filter(LockData::held);
    }

    /**
     * Resumes the lock that this tab has, for a page that is shown after the lock was taken: gives a new lock id, and the former
     * one ends. Never takes a lock that is free.
     *
     * @throws AlreadyLockedException if someone else has it, or another tab of the same person
     * @throws NoLockException if nobody has it
     */
    public Held resume(String type, String id, Principal person, String clientId) {
        LockName name = permitted(type, id, person);
        TabNote tab = TabNote.of(null, Objects.requireNonNull(clientId, "clientId"));
        LockData holder = null;
        for (int i = 0; i < ATTEMPTS; i++) {
            holder = find(name).orElse(null);
            if (holder == null) {
                throw new NoLockException(name, name + " is not held by anybody", null);
            }
            if (!isOfTab(holder, person, tab)) {
                break;
            }
            TabNote kept = TabNote.stored(holder.note());
            Optional<Held> resumed = resumed(holder, person, kept);
            if (resumed.isPresent()) {
                return changed(resumed.get());
            }
        }
        throw new AlreadyLockedException(name, holder == null ? null : TabNote.hidden(holder), "");
    }

    private Optional<Held> resumed(LockData holder, Principal person, TabNote tab) {
        return manager.takeOver(holder, person.getName(), settings.lease(), tab.store(), "resumed by the same tab")
                .map(granted -> new Held(granted, settings.lease(), true));
    }

    /**
     * Makes the lock last for another lease from now.
     *
     * @throws NoLockException if it is not held under this id any more
     */
    public Held renew(LockId lockId, Principal person) {
        requireOwn(lockId, person);
        return renewed(lockId);
    }

    /** Renews if the lock is still held under this id, by this tab; empty if not. */
    Optional<Held> renewIfHeld(LockId lockId, Principal person, String clientId) {
        try {
            LockData held = requireOwn(lockId, person);
            return isOfTab(held, person, TabNote.of(null, clientId)) ? Optional.of(renewed(lockId)) : Optional.empty();
        } catch (NoLockException e) {
            return Optional.empty(); // the caller asks for the lock anew, and that answer says why
        }
    }

    private Held renewed(LockId lockId) {
        manager.renew(lockId, settings.lease());
        return new Held(lockId, settings.lease(), true);
    }

    /** Frees the lock now; does nothing if it is not held under this id any more. */
    public void release(LockId lockId, Principal person) {
        try {
            requireOwn(lockId, person);
            manager.releaseLock(lockId);
            changed.run();
        } catch (NoLockException e) {
            // gone already, which is what was wanted
        }
    }

    /** Cuts the lock down to the leave grace, for a page that goes away but may be loaded again; does nothing if it is gone. */
    public void leave(LockId lockId, Principal person) {
        try {
            requireOwn(lockId, person);
            manager.leave(lockId, settings.leaveGrace());
        } catch (NoLockException e) {
            // gone already, which is what was wanted
        }
    }

    /**
     * Takes the lock away from its holder, if the policy allows it and the holder is still the one with this fence.
     *
     * @param reason why: the audit trail keeps it
     * @param clientId of the tab that takes it; null if the lock is never to be resumed
     * @return empty if the fence moved on, or the lock is free
     */
    public Optional<Held> takeOver(
            String type,
            String id,
            Principal person,
            long expectedFence,
            String reason,
            @Nullable String clientId,
            @Nullable String note) {
        LockName name = permitted(type, id, person);
        TabNote tab = TabNote.of(note, clientId);
        LockData held = find(name).orElse(null);
        if (held == null) {
            return Optional.empty();
        }
        if (!mayTakeOver(person, TabNote.hidden(held))) {
            throw EditLockProblem.denied("You may not take this lock over.");
        }
        if (held.fence() != expectedFence) {
            return Optional.empty();
        }
        if (!person.getName().equals(held.owner()) && quota.isUsedUp(person)) {
            throw quota.refused();
        }
        return manager.takeOver(held, person.getName(), settings.lease(), tab.store(), reason)
                .map(granted -> changed(new Held(granted, settings.lease(), false)));
    }

    /** Who has the lock; empty if nobody has. */
    public Optional<LockData> find(String type, String id, Principal person) {
        return find(permitted(type, id, person)).map(TabNote::hidden);
    }

    /** Whether this person may take the lock from who holds it, so that a page offers it to nobody else. */
    boolean mayTakeOver(Principal person, LockData held) {
        return policy.mayTakeOver(person, held);
    }

    private LockName permitted(String type, String id, Principal person) {
        LockName name = Requests.name(type, id);
        if (!policy.mayEdit(Objects.requireNonNull(person, "person"), name)) {
            throw EditLockProblem.denied("You may not edit this.");
        }
        return name;
    }

    /** A lock id is a right only in the hands of the person it was given to. */
    private LockData requireOwn(LockId lockId, Principal person) {
        permitted(lockId.name().type(), lockId.name().id(), person);
        LockData data = manager.checkLock(lockId);
        if (!person.getName().equals(data.owner())) {
            throw EditLockProblem.denied("This lock id was given to someone else.");
        }
        return data;
    }

    private static boolean isOfTab(LockData holder, Principal person, TabNote tab) {
        return holder.held()
                && person.getName().equals(holder.owner())
                && Objects.equals(TabNote.stored(holder.note()).clientId(), tab.clientId());
    }

    private Held changed(Held held) {
        changed.run();
        return held;
    }
}
