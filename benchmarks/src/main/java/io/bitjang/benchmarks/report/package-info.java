// SPDX-License-Identifier: Apache-2.0
/** What comes out: raw figures, tables and charts. */
@NullMarked
package io.bitjang.benchmarks.report;

import org.jspecify.annotations.NullMarked;
