// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa.shop;

import jakarta.persistence.CascadeType;
import jakarta.persistence.CollectionTable;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Embedded;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.OneToMany;
import jakarta.persistence.Table;
import jakarta.persistence.Version;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.hibernate.annotations.OptimisticLock;

/** An order as an aggregate: its address is a value, its lines are parts, its labels are values of a collection. */
@Entity
@Table(name = "purchase_order")
public class Order {

    /** What may be done with it. */
    public enum State {
        PREPARING,
        SHIPPED
    }

    @Id
    private long number;

    @Version
    private long version;

    private State state = State.PREPARING;
    private String shippedTo = "";

    @OptimisticLock(excluded = true)
    private String remark = "";

    @Embedded
    private Address address = new Address("Seoul", "1");

    @ElementCollection
    @CollectionTable(name = "order_label", joinColumns = @JoinColumn(name = "order_number"))
    private Set<String> labels = new HashSet<>();

    @OneToMany(mappedBy = "order", cascade = CascadeType.ALL, orphanRemoval = true)
    private List<OrderLine> lines = new ArrayList<>();

    protected Order() {}

    public Order(long number) {
        this.number = number;
    }

    public long number() {
        return number;
    }

    public long version() {
        return version;
    }

    public State state() {
        return state;
    }

    public String shippedTo() {
        return shippedTo;
    }

    public Address address() {
        return address;
    }

    public Set<String> labels() {
        return labels;
    }

    public List<OrderLine> lines() {
        return lines;
    }

    public OrderLine addLine(long id, String product, int quantity) {
        OrderLine line = new OrderLine(id, this, product, quantity);
        lines.add(line);
        return line;
    }

    public void removeLine(OrderLine line) {
        lines.remove(line);
        line.forgetOrder();
    }

    public void remark(String text) {
        remark = text;
    }

    public void moveTo(Address other) {
        if (state == State.SHIPPED) {
            throw new IllegalStateException("It is on its way to " + shippedTo);
        }
        address = other;
    }

    /** What is shipped goes where the one who ships it saw that it should go. */
    public void ship() {
        if (state == State.SHIPPED) {
            throw new IllegalStateException("It is on its way");
        }
        state = State.SHIPPED;
        shippedTo = address.city();
    }
}
