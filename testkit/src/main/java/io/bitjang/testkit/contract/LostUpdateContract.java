// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.AlreadyLockedException;
import io.bitjang.Lease;
import io.bitjang.LockId;
import io.bitjang.NoLockException;
import io.bitjang.Wait;
import java.sql.Connection;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/**
 * The experiment that the guard exists for. One node adds 1 to a balance, slowly, and its lock runs out on the way; another node
 * takes the lock over and adds 100. Whatever is committed must be in the balance.
 */
public abstract class LostUpdateContract extends OnAccounts {

    private static final int ROUNDS = Boolean.getBoolean("bitjang.soak") ? 50 : 10;
    private static final int LOCK_MILLIS = 60;

    /** For the databases' test classes. */
    protected LostUpdateContract() {}

    @Test
    void check_outside_the_transaction_loses_an_update() throws Exception {
        LockId id = locks.manager().tryLock(account.type(), account.id(), "slow", Duration.ofMinutes(5));
        int seen = balance();
        locks.manager().checkLock(id);
        // five minutes pass
        other.manager().leave(id, Duration.ofMillis(1));
        awaitLapse(account);
        addOnOtherNode();

        write(seen + 1);

        assertThat(balance()).as("the 100 are gone").isEqualTo(1);
    }

    @Test
    void guarded_transactions_never_lose_an_update() throws Exception {
        int expected = 0;
        int refused = 0;
        for (int round = 0; round < ROUNDS; round++) {
            // the first rounds have a known end, so that both outcomes are among them
            boolean surelyInTime = round == 0;
            boolean surelyLate = round == 1;
            LockId id = lockWhenFree(surelyInTime ? PATIENCE : Duration.ofMillis(LOCK_MILLIS));
            CompletableFuture<Void> successor = CompletableFuture.runAsync(this::addOnOtherNode);
            if (surelyLate) {
                successor.get(PATIENCE.toSeconds(), SECONDS);
            }
            boolean written = addSlowly(id, surelyInTime ? 0 : LOCK_MILLIS * 2);
            // otherwise not released: the successor gets it when it has lapsed
            if (surelyInTime) {
                locks.manager().releaseLock(id);
            }
            successor.get(PATIENCE.toSeconds(), SECONDS);

            expected += written ? 101 : 100;
            refused += written ? 0 : 1;
            assertThat(balance()).as("after round " + round).isEqualTo(expected);
            assertThat(written || !surelyInTime).isTrue();
            assertThat(!written || !surelyLate).isTrue();
        }
        assertThat(refused).isBetween(1, ROUNDS - 1);
    }

    /** The successor's release of the round before may have met a row that was locked, and come a little later. */
    private LockId lockWhenFree(Duration duration) throws Exception {
        AtomicReference<LockId> id = new AtomicReference<>();
        await("the lock", () -> {
            try {
                id.set(locks.manager().tryLock(account.type(), account.id(), "slow", duration));
                return true;
            } catch (AlreadyLockedException e) {
                return false;
            }
        });
        return id.get();
    }

    private boolean addSlowly(LockId id, int longestPause) throws Exception {
        try (Connection tx = pool.getConnection()) {
            tx.setAutoCommit(false);
            try {
                int seen = balance(tx);
                dawdle(longestPause);
                locks.manager().checkLock(tx, id);
                dawdle(longestPause);
                write(tx, seen + 1);
                tx.commit();
                return true;
            } catch (NoLockException e) {
                tx.rollback();
                return false;
            }
        }
    }

    private static void dawdle(int longest) throws InterruptedException {
        if (longest > 0) {
            MILLISECONDS.sleep(ThreadLocalRandom.current().nextInt(longest));
        }
    }

    private void addOnOtherNode() {
        try (Lease lease = other.lease(account).acquire(Wait.upTo(PATIENCE));
                Connection tx = pool.getConnection()) {
            tx.setAutoCommit(false);
            int seen = balance(tx);
            lease.guard(tx);
            write(tx, seen + 100);
            tx.commit();
        } catch (java.sql.SQLException e) {
            throw new CompletionException(e);
        }
    }
}
