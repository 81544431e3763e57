// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.race;

import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.Id;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.Table;

/** A line as plain JPA has it: no {@code @PartOf}. */
@Entity
@Table(name = "shop_order_line")
class PlainOrderLine {

    @Id
    private String id = "";

    @ManyToOne(fetch = FetchType.LAZY)
    @JoinColumn(name = "order_number")
    @SuppressWarnings({"NullAway.Init", "unused"})
    private PlainOrder order;

    private int quantity;

    int quantity() {
        return quantity;
    }

    void quantity(int wanted) {
        quantity = wanted;
    }
}
