// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import io.bitjang.AlreadyLockedException;
import io.bitjang.LockData;
import io.bitjang.LockException;
import io.bitjang.LockName;
import io.bitjang.LockingFailException;
import io.bitjang.NoLockException;
import io.bitjang.StaleSnapshotException;
import io.bitjang.admin.LockAdmin;
import java.security.Principal;
import java.util.Optional;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.dao.PessimisticLockingFailureException;

/** Which problem an exception is. Looks at its causes too, because Spring and JPA wrap what they pass on. Thread-safe. */
final class Problems {

    private static final int DEEPEST = 20;
    private static final Log LOG = LogFactory.getLog(Problems.class);

    private final LockAdmin admin;
    private final EditLockPolicy policy;

    Problems(LockAdmin admin, EditLockPolicy policy) {
        this.admin = admin;
        this.policy = policy;
    }

    /** Empty if it has nothing to do with locks. */
    Optional<EditLockProblem> of(Throwable failure, @Nullable Principal person) {
        try {
            return find(failure, person);
        } catch (LockingFailException e) {
            return Optional.of(EditLockProblem.unavailable(e)); // who has it now could not be read
        }
    }

    private Optional<EditLockProblem> find(Throwable failure, @Nullable Principal person) {
        boolean savingNow = false;
        Throwable each = failure;
        for (int depth = 0; each != null && depth < DEEPEST; depth++, each = each.getCause()) {
            if (each instanceof EditLockProblem problem) {
                return Optional.of(problem);
            } else if (each instanceof LockException lock) {
                return of(lock, person);
            } else if (isVersionConflict(each)) {
                return Optional.of(EditLockProblem.staleVersion(failure));
            }
            savingNow |= isSavingNow(each);
        }
        return savingNow ? Optional.of(EditLockProblem.savingNow(failure)) : Optional.empty();
    }

    private Optional<EditLockProblem> of(LockException failure, @Nullable Principal person) {
        LockName name = failure.name().orElse(null);
        if (failure instanceof StaleSnapshotException) {
            return Optional.of(EditLockProblem.savingNow(failure)); // with a new transaction it would see the lock
        } else if (failure instanceof AlreadyLockedException held && name != null) {
            return Optional.of(held(name, held.holder().orElse(null), person));
        } else if (failure instanceof NoLockException lost && name != null) {
            return Optional.of(gone(name, lost.takenAwayBy().orElse(null), person));
        } else if (failure instanceof LockingFailException) {
            LOG.warn("Answered by 503: " + failure.getMessage());
            return Optional.of(EditLockProblem.unavailable(failure));
        }
        return Optional.empty();
    }

    /** Of one who thought to have the lock: is it free now, or someone else's? */
    private EditLockProblem gone(LockName name, @Nullable String takenAwayBy, @Nullable Principal person) {
        LockData now = admin.find(name).orElse(null);
        if (now != null && now.held()) {
            return held(name, now, person);
        }
        // a lock id can be guessed as far as its fence: only who had the lock is told
        boolean had = now != null && person != null && person.getName().equals(now.owner());
        return EditLockProblem.lapsed(name, had ? takenAwayBy : null);
    }

    /** Who holds a job's lock is nothing for people who may only edit orders. */
    private EditLockProblem held(LockName name, @Nullable LockData holder, @Nullable Principal person) {
        if (person == null || !policy.mayEdit(person, name)) {
            return EditLockProblem.held(name, null, null, false);
        }
        boolean mayTakeOver = holder != null && holder.held() && policy.mayTakeOver(person, TabNote.hidden(holder));
        return EditLockProblem.held(name, holder, person, mayTakeOver);
    }

    /** By name: JPA may be missing. */
    private static boolean isVersionConflict(Throwable failure) {
        return failure.getClass().getName().equals("io.bitjang.jpa.VersionConflictException");
    }

    private static boolean isSavingNow(Throwable failure) {
        return failure instanceof OptimisticLockingFailureException
                || failure instanceof PessimisticLockingFailureException
                || isJpaLock(failure.getClass());
    }

    /** What a bare EntityManager throws is not translated to Spring's exceptions. */
    private static boolean isJpaLock(@Nullable Class<?> type) {
        return type != null
                && (type.getName().equals("jakarta.persistence.OptimisticLockException")
                        || type.getName().equals("jakarta.persistence.PessimisticLockException")
                        || type.getName().equals("jakarta.persistence.LockTimeoutException")
                        || isJpaLock(type.getSuperclass()));
    }
}
