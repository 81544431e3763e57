// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.internal;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.spring.OnSpring;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** What is done after a commit, where a transaction still seems to be there. */
class SpringTransactionsTest extends OnSpring {

    private final List<String> complaints = new ArrayList<>();

    @Test
    void what_comes_after_the_commit_is_complained_about() {
        SpringTransactions transactions = new SpringTransactions(pool, complaints::add);

        transaction().executeWithoutResult(status -> {
            add(1);
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void afterCommit() {
                    transactions.requireInTime(lock + " was released");
                }
            });
        });

        assertThat(complaints)
                .singleElement()
                .satisfies(said -> assertThat(said)
                        .contains(lock + " was released after the transaction had been committed", "REQUIRES_NEW"));
    }

    @Test
    void what_comes_before_it_is_not() {
        SpringTransactions transactions = new SpringTransactions(pool, complaints::add);

        transaction().executeWithoutResult(status -> transactions.requireInTime("released"));
        transaction().executeWithoutResult(status -> {
            transactions.requireInTime("released");
            status.setRollbackOnly();
        });

        assertThat(complaints).isEmpty();
    }

    @Test
    void data_source_that_the_application_has_given_up_is_not_kept() throws Exception {
        SpringTransactions transactions = new SpringTransactions(pool, complaints::add);
        WeakReference<DataSource> tenant = new WeakReference<>(new JdbcDataSource());
        assertThat(transactions.isOurs(tenant.get())).isFalse();

        await("the garbage collector", () -> {
            System.gc();
            return tenant.refersTo(null);
        });
        assertThat(transactions.isOurs(pool)).isTrue();
    }
}
