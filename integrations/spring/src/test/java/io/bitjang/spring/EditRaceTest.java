// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.AlreadyLockedException;
import io.bitjang.LockId;
import io.bitjang.NoLockException;
import java.sql.Timestamp;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Editor A saves while its lock expires between the check and the commit, and B waits for the lock. Whoever has the lock and reads,
 * must read what is still true when it writes. With a lock that is checked and released in transactions of its own it is not.
 */
class EditRaceTest extends OnSpring {

    private static final int ROUNDS = Boolean.getBoolean("bitjang.soak") ? 1000 : 50;

    /** In the rounds: about as long as an editor thinks. */
    private static final Duration SHORT = Duration.ofMillis(8);

    /** Where it runs out by itself: what checks it in a transaction doesn't mind, as long as nobody took it. */
    private static final Duration LONGER = Duration.ofSeconds(1);

    /** What both lock managers can do. */
    private interface EditLocks {
        /** Null if someone else has it. */
        String tryLock();

        void checkLock(String id);

        void releaseLock(String id);

        /** Lets it run out, whoever has it. */
        void runOut() throws Exception;
    }

    private final class Bitjang implements EditLocks {

        private final TransactionalLockManager manager = new TransactionalLockManager(locks.manager(), pool);
        private final Duration duration;

        Bitjang(Duration duration) {
            this.duration = duration;
        }

        @Override
        public String tryLock() {
            try {
                return manager.tryLock(lock.type(), lock.id(), "editor", duration)
                        .value();
            } catch (AlreadyLockedException e) {
                return null;
            }
        }

        @Override
        public void checkLock(String id) {
            manager.checkLock(new LockId(id));
        }

        @Override
        public void releaseLock(String id) {
            manager.releaseLock(new LockId(id));
        }

        @Override
        public void runOut() throws Exception {
            awaitLapse(lock);
        }
    }

    /** The document's, with its REQUIRES_NEW. */
    private final class Seed implements EditLocks {

        private final TransactionTemplate requiresNew = transaction();
        private final Duration duration;

        Seed(Duration duration) {
            this.duration = duration;
            requiresNew.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        }

        @Override
        public String tryLock() {
            String id = UUID.randomUUID().toString();
            try {
                return requiresNew.execute(tx -> {
                    deleteExpired();
                    jdbc.update(
                            "insert into spring_locks values (?, ?, ?)",
                            account,
                            id,
                            new Timestamp(System.currentTimeMillis() + duration.toMillis()));
                    return id;
                });
            } catch (DuplicateKeyException | PessimisticLockingFailureException e) {
                return null; // InnoDB finds a deadlock where it locks gaps
            }
        }

        private void deleteExpired() {
            jdbc.update(
                    "delete from spring_locks where id = ? and expiration_time < ?",
                    account,
                    new Timestamp(System.currentTimeMillis()));
        }

        @Override
        public void checkLock(String id) {
            unlessDeadlock(() -> {
                deleteExpired();
                if (jdbc.queryForList("select id from spring_locks where lockid = ?", id)
                        .isEmpty()) {
                    throw new NoLockException(lock, "no lock", null);
                }
            });
        }

        @Override
        public void releaseLock(String id) {
            unlessDeadlock(() -> jdbc.update("delete from spring_locks where lockid = ?", id));
        }

        @Override
        public void runOut() {
            jdbc.update(
                    "update spring_locks set expiration_time = ? where id = ?",
                    new Timestamp(System.currentTimeMillis() - 1000),
                    account);
        }

        private void unlessDeadlock(Runnable work) {
            try {
                requiresNew.executeWithoutResult(tx -> work.run());
            } catch (PessimisticLockingFailureException e) {
                throw new NoLockException(lock, "a deadlock", e);
            }
        }
    }

    @BeforeEach
    void createSeedTable() {
        database.execute("CREATE TABLE IF NOT EXISTS spring_locks"
                + " (id BIGINT PRIMARY KEY, lockid VARCHAR(100), expiration_time TIMESTAMP(3))");
    }

    /**
     * A reads, checks, and comes to its commit only after B has the lock, or has been refused it.
     *
     * @return what B has read with the lock in hand
     */
    private int readByTheNextEditor(EditLocks editLocks) throws Exception {
        String a = editLocks.tryLock();
        CountDownLatch checked = new CountDownLatch(1);
        CountDownLatch tried = new CountDownLatch(1);
        Future<?> saving = threads.submit(() -> transaction().executeWithoutResult(tx -> {
            editLocks.checkLock(a);
            checked.countDown();
            await(tried);
            add(1);
            editLocks.releaseLock(a);
        }));
        await(checked);
        editLocks.runOut();
        String b = editLocks.tryLock();
        int read = b == null ? -1 : balance();
        tried.countDown();
        result(saving);
        while (b == null) {
            b = editLocks.tryLock();
            read = b == null ? -1 : balance();
        }
        return read;
    }

    @Test
    void seed_lets_the_next_editor_read_what_the_first_is_about_to_change() throws Exception {
        assertThat(readByTheNextEditor(new Seed(PATIENCE)))
                .as("read with the lock in hand")
                .isZero();
        assertThat(balance()).as("what was true").isOne();
    }

    @Test
    void bitjang_lets_the_next_editor_read_only_what_the_first_has_committed() throws Exception {
        assertThat(readByTheNextEditor(new Bitjang(LONGER))).isOne();
        assertThat(balance()).isOne();
    }

    /**
     * What the rounds came to.
     *
     * @param saved how often an edit was saved
     * @param stale how often what was read with the lock in hand was not true any more when the lock had been checked
     * @param lost how many of the saved edits are gone
     * @param raced how often the lock had run out between its check and its release, so that the other editor could want it
     */
    private record Outcome(int saved, int stale, int lost, int raced) {}

    /** Two editors, each of whom reads, thinks for about as long as its lock lasts, and saves what it has read and one more. */
    private Outcome rounds(EditLocks editLocks, Duration lasting) throws Exception {
        int before = balance();
        AtomicInteger saved = new AtomicInteger();
        AtomicInteger stale = new AtomicInteger();
        AtomicInteger raced = new AtomicInteger();
        Future<?> one = threads.submit(() -> edit(editLocks, lasting, saved, stale, raced));
        Future<?> two = threads.submit(() -> edit(editLocks, lasting, saved, stale, raced));
        one.get(10, TimeUnit.MINUTES);
        two.get(10, TimeUnit.MINUTES);
        return new Outcome(saved.get(), stale.get(), saved.get() - (balance() - before), raced.get());
    }

    private void edit(
            EditLocks editLocks, Duration lasting, AtomicInteger saved, AtomicInteger stale, AtomicInteger raced) {
        int round = 0;
        while (round < ROUNDS / 2) {
            String id = editLocks.tryLock();
            if (id == null) {
                Thread.onSpinWait();
                continue;
            }
            round++;
            // the lock was granted before this, so it has run out when its duration has passed since
            long granted = System.nanoTime();
            int read = balance();
            try {
                transaction().executeWithoutResult(tx -> {
                    editLocks.checkLock(id);
                    stale.addAndGet(balance() == read ? 0 : 1);
                    think(lasting);
                    jdbc.update("UPDATE spring_account SET balance = ? WHERE id = ?", read + 1, account);
                    raced.addAndGet(System.nanoTime() - granted > lasting.toNanos() ? 1 : 0);
                    editLocks.releaseLock(id);
                });
                saved.incrementAndGet();
            } catch (NoLockException e) {
                // too late: nothing was saved, and the editor knows
            }
        }
    }

    private static void think(Duration lasting) {
        try {
            TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextInt(2 * (int) lasting.toMillis()));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void seed_loses_updates() throws Exception {
        Seed seed = new Seed(SHORT);
        Outcome outcome = rounds(seed, SHORT);
        // one loss shows the flaw; when the scheduler brings it about is chance. The test above shows it without.
        for (int again = 0; outcome.lost == 0 && again < 10; again++) {
            outcome = rounds(seed, SHORT);
        }
        assertThat(outcome.lost).isPositive();
    }

    @Test
    void bitjang_loses_none() throws Exception {
        Duration lasting = SHORT;
        Outcome outcome = rounds(new Bitjang(lasting), lasting);
        // where others use the CPU, a lock of some milliseconds has run out before it is checked: few edits are saved.
        // That is
        // tried again with a longer lock; a loss in any round fails at once.
        for (int again = 0; outcome.saved < ROUNDS / 2 && again < 6; again++) {
            assertThat(outcome.lost).isZero();
            assertThat(outcome.stale).isZero();
            lasting = lasting.multipliedBy(2);
            outcome = rounds(new Bitjang(lasting), lasting);
        }

        assertThat(outcome.lost).isZero();
        assertThat(outcome.stale).isZero();
        assertThat(outcome.saved).isPositive();
        // more than half in the mean; a few of them come about by classes that are loaded in the first rounds
        assertThat(outcome.raced)
                .as("rounds in which the lock ran out before the commit, of " + outcome.saved)
                .isGreaterThan(outcome.saved / 5);
    }
}
