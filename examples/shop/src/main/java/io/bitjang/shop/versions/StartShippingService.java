// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.versions;

import io.bitjang.shop.orders.Order;
import io.bitjang.shop.orders.OrderNo;
import io.bitjang.shop.orders.OrderRepository;
import io.bitjang.shop.orders.Slowness;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** The operator sends an order on its way, if it still is as the page showed it. */
@Service
public class StartShippingService {

    private final OrderRepository orderRepository;
    private final Slowness slowness;

    StartShippingService(OrderRepository orderRepository, Slowness slowness) {
        this.orderRepository = orderRepository;
        this.slowness = slowness;
    }

    /** Starts it. */
    @Transactional
    public void startShipping(StartShippingRequest request, String by) {
        Order order = orderRepository.atVersion(new OrderNo(request.orderNumber()), request.version());
        slowness.pauseIf(request.isSlow());
        order.startShipping(by);
    }

    /** Takes the parcel back, for one who wants to try again. */
    @Transactional
    public void takeBack(String number, String by) {
        orderRepository.forceIncrement(new OrderNo(number)).takeBack(by);
    }
}
