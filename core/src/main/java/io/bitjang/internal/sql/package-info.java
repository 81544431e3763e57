// SPDX-License-Identifier: Apache-2.0

/** The statements, and how they are run. */
@NullMarked
package io.bitjang.internal.sql;

import org.jspecify.annotations.NullMarked;
