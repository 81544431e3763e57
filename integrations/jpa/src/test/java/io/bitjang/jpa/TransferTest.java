// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Wait;
import io.bitjang.jpa.shop.Account;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Money goes from account to account, by many at the same time. */
class TransferTest extends OnJpa {

    private static final int THREADS = 32;
    private static final int ACCOUNTS = 10;
    private static final long EACH = 1000;
    private static final Wait PATIENT = Wait.upTo(Duration.ofSeconds(60));

    private final AtomicInteger deadlocks = new AtomicInteger();

    /** At REPEATABLE READ the second lock may come with a change that the snapshot of the first does not have. */
    private final AtomicInteger stale = new AtomicInteger();

    private interface Transfer {
        void run(AggregateLocks locks, List<String> names, long amount);
    }

    private List<String> open() {
        long prefix = number();
        List<String> names = new ArrayList<>();
        inTx(em -> {
            for (int i = 0; i < ACCOUNTS; i++) {
                names.add("account-" + prefix + "-" + i);
                em.persist(new Account(names.get(i), EACH));
            }
        });
        return names;
    }

    private void transfer(List<String> names, int transfers, Transfer transfer) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            List<Future<?>> done = new ArrayList<>();
            for (int i = 0; i < transfers; i++) {
                done.add(threads.submit(() -> {
                    ThreadLocalRandom random = ThreadLocalRandom.current();
                    int from = random.nextInt(ACCOUNTS);
                    int to = (from + 1 + random.nextInt(ACCOUNTS - 1)) % ACCOUNTS;
                    try {
                        inTx(em -> transfer.run(
                                AggregateLocks.of(em), List.of(names.get(from), names.get(to)), random.nextLong(100)));
                    } catch (AggregateDeadlockException e) {
                        deadlocks.incrementAndGet();
                    } catch (StaleAggregateException e) {
                        stale.incrementAndGet();
                    }
                }));
            }
            for (Future<?> each : done) {
                each.get(5, TimeUnit.MINUTES);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private long total(List<String> names) {
        return tx(em -> names.stream()
                .mapToLong(each -> em.find(Account.class, each).balance())
                .sum());
    }

    private void together(int transfers) throws Exception {
        List<String> names = open();

        transfer(names, transfers, (locks, two, amount) -> {
            List<Account> accounts = locks.lockAll(Account.class, two, PATIENT);
            accounts.get(0).add(-amount);
            accounts.get(1).add(amount);
        });

        assertThat(deadlocks).hasValue(0);
        assertThat(stale).hasValue(0);
        assertThat(total(names)).isEqualTo(ACCOUNTS * EACH);
    }

    @Test
    void locked_together_nobody_waits_for_each_other_and_no_money_is_lost() throws Exception {
        together(1_000);
    }

    @Test
    @Tag("soak")
    void the_same_for_long() throws Exception {
        together(10_000);
    }

    @Test
    void locked_one_after_the_other_they_do() throws Exception {
        List<String> names = open();

        for (int round = 0; round < 20 && deadlocks.get() == 0; round++) {
            transfer(names, 60, (locks, two, amount) -> {
                Account from = locks.lock(Account.class, two.get(0), PATIENT);
                Account to = locks.lock(Account.class, two.get(1), PATIENT);
                from.add(-amount);
                to.add(amount);
            });
        }

        assertThat(deadlocks).hasPositiveValue();
        assertThat(total(names)).isEqualTo(ACCOUNTS * EACH);
    }
}
