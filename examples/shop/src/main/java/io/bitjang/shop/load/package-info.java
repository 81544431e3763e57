// SPDX-License-Identifier: Apache-2.0

/** Two hundred editors, and what became of their edits. */
@NullMarked
package io.bitjang.shop.load;

import org.jspecify.annotations.NullMarked;
