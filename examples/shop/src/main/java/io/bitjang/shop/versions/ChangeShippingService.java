// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.versions;

import io.bitjang.shop.orders.Order;
import io.bitjang.shop.orders.OrderNo;
import io.bitjang.shop.orders.OrderRepository;
import io.bitjang.shop.orders.Slowness;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** The customer changes the address, if nobody saved since the form was made. */
@Service
public class ChangeShippingService {

    private final OrderRepository orderRepository;
    private final Slowness slowness;

    ChangeShippingService(OrderRepository orderRepository, Slowness slowness) {
        this.orderRepository = orderRepository;
        this.slowness = slowness;
    }

    /** Changes it. */
    @Transactional
    public void changeShipping(ChangeShippingRequest request, String by) {
        Order order = orderRepository.atVersion(new OrderNo(request.number()), request.version());
        slowness.pauseIf(request.isSlow());
        order.changeShippingInfo(request.shippingInfo(), by);
    }
}
