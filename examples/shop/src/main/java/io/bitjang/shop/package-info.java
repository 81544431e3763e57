// SPDX-License-Identifier: Apache-2.0

/**
 * A shop in which one sees why locking is hard, and that Bitjang gets it right.
 *
 * <p>One package for each page: {@code editing} (an offline lock), {@code versions} (the version of a form), {@code race} (operator
 * against customer), {@code cards} (twenty requests at once), {@code nodes} (a job on many nodes), {@code locks} (what is locked
 * now). What they have in common is in {@code orders} and {@code web}; {@code start} brings the shop up, {@code load} puts it under
 * load.
 */
@NullMarked
package io.bitjang.shop;

import org.jspecify.annotations.NullMarked;
