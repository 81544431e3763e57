// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.data.shop;

import io.bitjang.spring.data.AggregateRepository;
import jakarta.persistence.LockModeType;
import jakarta.persistence.QueryHint;
import java.util.Optional;
import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.data.jpa.repository.Lock;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.jpa.repository.QueryHints;

/** A repository with Bitjang's locks and with Spring Data's own. */
public interface Orders extends JpaRepository<Order, Long>, AggregateRepository<Order, Long> {

    @Lock(LockModeType.PESSIMISTIC_WRITE)
    @QueryHints(@QueryHint(name = "jakarta.persistence.lock.timeout", value = "0"))
    @Query("select o from Order o where o.number = :number")
    Optional<Order> findForUpdate(long number);

    @Lock(LockModeType.OPTIMISTIC_FORCE_INCREMENT)
    Optional<Order> findByNumber(long number);
}
