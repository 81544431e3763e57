// SPDX-License-Identifier: Apache-2.0

/** Bitjang in a Spring application. */
@NullMarked
package io.bitjang.spring;

import org.jspecify.annotations.NullMarked;
