// SPDX-License-Identifier: Apache-2.0

/** Spring Integration's locks on Bitjang. */
@NullMarked
package io.bitjang.spring.integration;

import org.jspecify.annotations.NullMarked;
