// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shedlock;

import io.bitjang.LockException;
import java.util.Optional;
import net.javacrumbs.shedlock.core.AbstractSimpleLock;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;

/**
 * Both locks or none. Bitjang's comes first, because it can be given back without a trace when the old one is refused: an unlock of
 * the old one would keep it taken for its lockAtLeastFor, although no job ran. Thread-safe.
 */
final class BothProviders implements ExtensibleLockProvider {

    private final BitjangLockProvider bitjang;
    private final LockProvider old;

    BothProviders(BitjangLockProvider bitjang, LockProvider old) {
        this.bitjang = bitjang;
        this.old = old;
    }

    @Override
    public Optional<SimpleLock> lock(LockConfiguration configuration) {
        Optional<JobLock> first = bitjang.take(configuration);
        if (first.isEmpty()) {
            return Optional.empty();
        }
        JobLock mine = first.get();
        Optional<SimpleLock> second;
        try {
            second = old.lock(configuration);
        } catch (RuntimeException e) {
            giveBackAfter(e, mine);
            throw e;
        }
        if (second.isEmpty()) {
            mine.giveBack();
        }
        return second.map(lock -> new Both(configuration, mine, lock));
    }

    /** What the old provider threw must not be hidden. */
    private static void giveBackAfter(RuntimeException failure, JobLock mine) {
        try {
            mine.giveBack();
        } catch (LockException e) {
            failure.addSuppressed(e);
        }
    }

    private static final class Both extends AbstractSimpleLock {

        private final SimpleLock bitjang;
        private final SimpleLock old;

        Both(LockConfiguration configuration, SimpleLock bitjang, SimpleLock old) {
            super(configuration);
            this.bitjang = bitjang;
            this.old = old;
        }

        @Override
        protected void doUnlock() {
            try (AutoUnlock second = bitjang::unlock;
                    AutoUnlock first = old::unlock) {}
        }

        /** If only one can be extended, it is left to run out: the job may still be at work. */
        @Override
        protected Optional<SimpleLock> doExtend(LockConfiguration extended) {
            return old.extend(extended.getLockAtMostFor(), extended.getLockAtLeastFor())
                    .flatMap(first -> bitjang.extend(extended.getLockAtMostFor(), extended.getLockAtLeastFor())
                            .map(second -> new Both(extended, second, first)));
        }
    }

    /** Unlocks at the end of a block, also when the other's unlocking fails. */
    private interface AutoUnlock extends AutoCloseable {
        @Override
        void close();
    }
}
