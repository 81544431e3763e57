// SPDX-License-Identifier: Apache-2.0

/** How it works; nothing here is for applications. */
@NullMarked
package io.bitjang.spring.internal;

import org.jspecify.annotations.NullMarked;
