// SPDX-License-Identifier: Apache-2.0

/** What an application may implement. */
@NullMarked
package io.bitjang.spi;

import org.jspecify.annotations.NullMarked;
