// SPDX-License-Identifier: Apache-2.0
/** The ways to lock that are compared, behind one small interface. */
@NullMarked
package io.bitjang.benchmarks.contestants;

import org.jspecify.annotations.NullMarked;
