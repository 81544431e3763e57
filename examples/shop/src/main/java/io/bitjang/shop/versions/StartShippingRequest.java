// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.versions;

import org.jspecify.annotations.Nullable;

/**
 * What the operator's button sends.
 *
 * @param version the version that the page showed
 * @param seenAddress the address that the page showed; for the page that says that it is another now
 * @param slowly whether it takes a while, so that two can save at the same moment
 */
public record StartShippingRequest(
        String orderNumber,
        long version,
        @Nullable String seenAddress,
        @Nullable Boolean slowly) {

    boolean isSlow() {
        return Boolean.TRUE.equals(slowly);
    }
}
