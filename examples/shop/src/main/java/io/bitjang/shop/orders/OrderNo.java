// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.orders;

import jakarta.persistence.Embeddable;
import java.io.Serializable;

/** The number of an order. */
@Embeddable
public record OrderNo(String number) implements Serializable {

    @Override
    public String toString() {
        return number;
    }
}
