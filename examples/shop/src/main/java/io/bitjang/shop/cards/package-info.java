// SPDX-License-Identifier: Apache-2.0

/** Twenty requests at once for a user who may have two cards. */
@NullMarked
package io.bitjang.shop.cards;

import org.jspecify.annotations.NullMarked;
