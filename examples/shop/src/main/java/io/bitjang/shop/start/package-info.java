// SPDX-License-Identifier: Apache-2.0

/** Brings the shop up: options, the database, the tables, and one clear line for whatever is wrong. */
@NullMarked
package io.bitjang.shop.start;

import org.jspecify.annotations.NullMarked;
