// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa.shop;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import org.hibernate.annotations.DynamicUpdate;

/** An order without a version; each writes only what it has changed. */
@Entity
@DynamicUpdate
public class UnprotectedOrder {

    @Id
    private long number;

    private String city = "Seoul";
    private String shippedTo = "";

    protected UnprotectedOrder() {}

    public UnprotectedOrder(long number) {
        this.number = number;
    }

    public String city() {
        return city;
    }

    public String shippedTo() {
        return shippedTo;
    }

    public void moveTo(String other) {
        if (!shippedTo.isEmpty()) {
            throw new IllegalStateException("It is on its way to " + shippedTo);
        }
        city = other;
    }

    public void ship() {
        shippedTo = city;
    }
}
