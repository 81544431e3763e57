// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.orders;

import io.bitjang.jpa.PartOf;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.Id;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.Table;

/** A line of an order. It is part of it: a change here moves the order's version. */
@Entity
@Table(name = "shop_order_line")
public class OrderLine {

    @Id
    private String id;

    @ManyToOne(fetch = FetchType.LAZY)
    @JoinColumn(name = "order_number")
    @PartOf
    private Order order;

    private String product;
    private int quantity;

    /** For JPA. */
    @SuppressWarnings("NullAway.Init")
    protected OrderLine() {}

    OrderLine(Order order, String id, String product, int quantity) {
        this.order = order;
        this.id = id;
        this.product = product;
        this.quantity = quantity;
    }

    public String getId() {
        return id;
    }

    public String getProduct() {
        return product;
    }

    public int getQuantity() {
        return quantity;
    }

    /** Another quantity. */
    public void changeQuantity(int wanted) {
        if (wanted < 1) {
            throw new IllegalArgumentException("A quantity is at least 1, not " + wanted);
        }
        quantity = wanted;
    }
}
