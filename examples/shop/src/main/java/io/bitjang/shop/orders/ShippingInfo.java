// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.orders;

import jakarta.persistence.Embeddable;
import org.jspecify.annotations.Nullable;

/**
 * Where an order goes.
 *
 * @param message for whoever delivers it
 */
@Embeddable
public record ShippingInfo(String receiver, String address, String message) {

    /** How many characters there is room for. */
    public static final int LONGEST_RECEIVER = 100;

    /** How many characters there is room for. */
    public static final int LONGEST_ADDRESS = 200;

    /** How many characters there is room for. */
    public static final int LONGEST_MESSAGE = 1_000;

    /** What a form has sent: no blanks around it, and a line break is one character, as the browser counts it. */
    public static ShippingInfo typed(@Nullable String receiver, @Nullable String address, @Nullable String message) {
        return new ShippingInfo(
                text(receiver).strip(), text(address).strip(), text(message).replace("\r\n", "\n"));
    }

    private static String text(@Nullable String typed) {
        return typed == null ? "" : typed;
    }

    /** The same, to another address. */
    public ShippingInfo to(String other) {
        return new ShippingInfo(receiver, other, message);
    }
}
