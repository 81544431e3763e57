// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.data.shop;

import io.bitjang.Wait;
import io.bitjang.jpa.VersionToken;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** A service as an application has it. */
@Service
public class Shop {

    private final Orders orders;

    Shop(Orders orders) {
        this.orders = orders;
    }

    /** What a page shows, and the version for its form. */
    @Transactional(readOnly = true)
    public VersionToken show(long number) {
        return orders.versionOf(orders.findById(number).orElseThrow());
    }

    /** Saves a form, and returns the version for the next one. */
    @Transactional
    public VersionToken save(long number, VersionToken version, String city) {
        Order order = orders.atVersion(number, version);
        order.moveTo(city);
        return orders.versionOf(order);
    }

    /** Changes a part under a lock of the whole. */
    @Transactional
    public int add(long number, int quantity, Wait wait) {
        OrderLine line = orders.lock(number, wait).line();
        line.change(line.quantity() + quantity);
        return line.quantity();
    }
}
