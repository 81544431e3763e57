// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa.shop;

import jakarta.persistence.Entity;

/** A kind of parcel. */
@Entity
public class ExpressParcel extends Parcel {

    private String courier;

    public void take(String who) {
        courier = who;
    }

    public String courier() {
        return courier;
    }
}
