// SPDX-License-Identifier: Apache-2.0

/** Orders: the aggregate that people and jobs change. */
@NullMarked
package io.bitjang.shop.orders;

import org.jspecify.annotations.NullMarked;
