// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.data.archive;

import io.bitjang.spring.data.AggregateRepository;
import io.bitjang.spring.data.shop.Order;
import org.springframework.transaction.annotation.Transactional;

/** The same entity as the shop's, in another persistence unit. Names the interface once more, as documented. */
@Transactional("archiveTransactions")
public interface ArchivedOrders extends BaseRepository<Order, Long>, AggregateRepository<Order, Long> {}
