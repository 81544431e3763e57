// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.data.shop;

import io.bitjang.jpa.PartOf;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.Table;

/** A part of an order. */
@Entity
@Table(name = "spring_order_lines")
public class OrderLine {

    @Id
    private long id;

    @ManyToOne(fetch = FetchType.LAZY)
    @PartOf
    private Order order;

    private int quantity;

    protected OrderLine() {}

    OrderLine(long id, Order order, int quantity) {
        this.id = id;
        this.order = order;
        this.quantity = quantity;
    }

    public int quantity() {
        return quantity;
    }

    public void change(int newQuantity) {
        quantity = newQuantity;
    }
}
