// SPDX-License-Identifier: Apache-2.0

/** How it is done. Not for use. */
@NullMarked
package io.bitjang.jpa.internal;

import org.jspecify.annotations.NullMarked;
