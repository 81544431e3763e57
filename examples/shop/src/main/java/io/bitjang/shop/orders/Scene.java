// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.orders;

/** The page that an order belongs to, so that the pages don't get in each other's way. */
public enum Scene {
    /** The edit screen. */
    EDITING,
    /** Forms with a version. */
    VERSIONS,
    /** Operator against customer. */
    RACE,
    /** In no list: the orders of the load. */
    NONE
}
