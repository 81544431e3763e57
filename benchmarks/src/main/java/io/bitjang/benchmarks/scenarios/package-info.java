// SPDX-License-Identifier: Apache-2.0
/** What is measured. */
@NullMarked
package io.bitjang.benchmarks.scenarios;

import org.jspecify.annotations.NullMarked;
