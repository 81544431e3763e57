// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.data.shop;

import jakarta.persistence.CascadeType;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.OneToMany;
import jakarta.persistence.Table;
import jakarta.persistence.Version;
import java.util.ArrayList;
import java.util.List;

/** The root: an order that has lines and goes to a city. */
@Entity
@Table(name = "spring_orders")
public class Order {

    @Id
    private long number;

    @Version
    private long version;

    private String city;

    @OneToMany(mappedBy = "order", cascade = CascadeType.ALL, orphanRemoval = true)
    private List<OrderLine> lines = new ArrayList<>();

    protected Order() {}

    public Order(long number, String city) {
        this.number = number;
        this.city = city;
        lines.add(new OrderLine(number + 1, this, 1));
    }

    public long number() {
        return number;
    }

    public long version() {
        return version;
    }

    public String city() {
        return city;
    }

    public void moveTo(String newCity) {
        city = newCity;
    }

    public OrderLine line() {
        return lines.get(0);
    }
}
