// SPDX-License-Identifier: Apache-2.0

/** The tables: creating them and checking them. */
@NullMarked
package io.bitjang.internal.schema;

import org.jspecify.annotations.NullMarked;
