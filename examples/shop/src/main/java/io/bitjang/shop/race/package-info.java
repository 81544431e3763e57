// SPDX-License-Identifier: Apache-2.0

/** The operator starts the shipping while the customer changes the address. */
@NullMarked
package io.bitjang.shop.race;

import org.jspecify.annotations.NullMarked;
