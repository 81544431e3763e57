// SPDX-License-Identifier: Apache-2.0
/** The benchmark: Bitjang next to its peers and to the bare database, in one run. */
@NullMarked
package io.bitjang.benchmarks;

import org.jspecify.annotations.NullMarked;
