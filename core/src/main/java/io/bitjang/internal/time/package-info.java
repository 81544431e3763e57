// SPDX-License-Identifier: Apache-2.0

/** The one seam to the clock and to sleeping. */
@NullMarked
package io.bitjang.internal.time;

import org.jspecify.annotations.NullMarked;
