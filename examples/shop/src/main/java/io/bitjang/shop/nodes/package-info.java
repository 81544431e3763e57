// SPDX-License-Identifier: Apache-2.0

/** A job that exactly one of many nodes runs. */
@NullMarked
package io.bitjang.shop.nodes;

import org.jspecify.annotations.NullMarked;
