// SPDX-License-Identifier: Apache-2.0

/** The demonstration: three acts on one H2 database. */
@NullMarked
package io.bitjang.demo;

import org.jspecify.annotations.NullMarked;
