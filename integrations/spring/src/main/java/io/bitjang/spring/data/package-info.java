// SPDX-License-Identifier: Apache-2.0

/** Aggregate locks as a part of Spring Data repositories. */
@NullMarked
package io.bitjang.spring.data;

import org.jspecify.annotations.NullMarked;
