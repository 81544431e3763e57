// SPDX-License-Identifier: Apache-2.0

/** An edit screen under an offline lock. */
@NullMarked
package io.bitjang.shop.editing;

import org.jspecify.annotations.NullMarked;
