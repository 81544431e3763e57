// SPDX-License-Identifier: Apache-2.0

/** ShedLock on Bitjang. */
@NullMarked
package io.bitjang.shedlock;

import org.jspecify.annotations.NullMarked;
