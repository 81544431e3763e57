// SPDX-License-Identifier: Apache-2.0

/** What is locked now, for the operator. */
@NullMarked
package io.bitjang.shop.locks;

import org.jspecify.annotations.NullMarked;
