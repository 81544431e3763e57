// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.orders;

/** How far an order has come. */
public enum OrderState {
    /** Paid, and being packed: the address may still be changed. */
    PREPARING,
    /** On its way. */
    SHIPPED
}
