// SPDX-License-Identifier: Apache-2.0

/** What is different from database to database. */
@NullMarked
package io.bitjang.internal.dialect;

import org.jspecify.annotations.NullMarked;
