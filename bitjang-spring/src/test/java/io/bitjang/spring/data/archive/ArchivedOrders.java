// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.data.archive;

import io.bitjang.spring.data.AggregateRepository;
import io.bitjang.spring.data.shop.Order;
import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.transaction.annotation.Transactional;

/** The same entity as the shop's, in another persistence unit. */
@Transactional("archiveTransactions")
public interface ArchivedOrders extends JpaRepository<Order, Long>, AggregateRepository<Order, Long> {}
