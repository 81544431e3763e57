// SPDX-License-Identifier: Apache-2.0

/** The operator: what is locked, by whom, and how to take it away. */
@NullMarked
package io.bitjang.admin;

import org.jspecify.annotations.NullMarked;
