// SPDX-License-Identifier: Apache-2.0
/** Where locks live: the databases, Redis and ZooKeeper, started for the run. */
@NullMarked
package io.bitjang.benchmarks.places;

import org.jspecify.annotations.NullMarked;
