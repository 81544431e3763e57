// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa.shop;

import jakarta.persistence.Embeddable;

/** A value. */
@Embeddable
public class Address {

    private String city;
    private String street;

    protected Address() {}

    public Address(String city, String street) {
        this.city = city;
        this.street = street;
    }

    public String city() {
        return city;
    }

    public void rename(String name) {
        city = name;
    }
}
