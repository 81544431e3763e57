// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.jpa.shop.Order;
import org.junit.jupiter.api.Test;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.orm.jpa.EntityManagerFactoryUtils;

/** What Spring makes of the exceptions, by their parents. */
class SpringTranslationTest {

    private static Exception translated(RuntimeException thrown) {
        return EntityManagerFactoryUtils.convertJpaAccessExceptionIfPossible(thrown);
    }

    @Test
    void each_becomes_what_a_spring_application_expects() {
        assertThat(translated(new AggregateBusyException(Order.class, 1L, "busy", null)))
                .isInstanceOf(CannotAcquireLockException.class);
        assertThat(translated(new AggregateTimeoutException(Order.class, 1L, "late", null)))
                .isInstanceOf(CannotAcquireLockException.class);
        assertThat(translated(new AggregateDeadlockException(Order.class, 1L, "deadlock", null)))
                .isInstanceOf(PessimisticLockingFailureException.class);
        assertThat(translated(new StaleAggregateException(Order.class, 1L, "stale", null)))
                .isInstanceOf(PessimisticLockingFailureException.class);
        assertThat(translated(new VersionConflictException(Order.class, 1L, 0L, 1L)))
                .isInstanceOf(OptimisticLockingFailureException.class)
                .hasCauseInstanceOf(VersionConflictException.class);
    }
}
