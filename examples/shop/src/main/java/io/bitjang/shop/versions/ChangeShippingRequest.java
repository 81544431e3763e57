// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.versions;

import io.bitjang.shop.orders.ShippingInfo;
import org.jspecify.annotations.Nullable;

/**
 * What the form for the shipping address sends.
 *
 * @param version the version that the form was made from
 * @param slowly whether saving takes a while, so that two can save at the same moment
 */
public record ChangeShippingRequest(
        String number,
        long version,
        @Nullable String receiver,
        @Nullable String address,
        @Nullable String message,
        @Nullable Boolean slowly) {

    boolean isSlow() {
        return Boolean.TRUE.equals(slowly);
    }

    ShippingInfo shippingInfo() {
        return ShippingInfo.typed(receiver, address, message);
    }
}
