// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.orders;

import java.util.List;
import org.springframework.boot.ApplicationArguments;
import org.springframework.boot.ApplicationRunner;
import org.springframework.stereotype.Component;

/** The orders of a shop that has just been opened. */
@Component
class FirstOrders implements ApplicationRunner {

    private final OrderRepository orders;

    FirstOrders(OrderRepository orders) {
        this.orders = orders;
    }

    @Override
    public void run(ApplicationArguments arguments) {
        if (orders.existsById(new OrderNo("1001"))) {
            return;
        }
        orders.saveAll(List.of(
                order(
                                "1001",
                                Scene.EDITING,
                                "customer",
                                "Kim Minji",
                                "12 Sejong-daero, Seoul",
                                "Leave it with the neighbour.")
                        .with("Tea bowl", 2)
                        .with("Bamboo whisk", 1),
                order("1002", Scene.EDITING, "customer", "Lee Jun", "7 Haeundae-ro, Busan", "")
                        .with("Ink stone", 1),
                order("1003", Scene.EDITING, "customer", "Park Sora", "3 Chilseong-ro, Jeju", "Ring twice.")
                        .with("Paper lantern", 4)
                        .with("Beeswax candle", 12),
                order("2001", Scene.VERSIONS, "customer", "Kim Minji", "12 Sejong-daero, Seoul", "")
                        .with("Tea bowl", 2),
                order("2002", Scene.VERSIONS, "customer", "Lee Jun", "7 Haeundae-ro, Busan", "Call before.")
                        .with("Ink stone", 1)));
    }

    private static Order order(
            String number, Scene scene, String orderer, String receiver, String address, String message) {
        return new Order(new OrderNo(number), scene, orderer, new ShippingInfo(receiver, address, message));
    }
}
