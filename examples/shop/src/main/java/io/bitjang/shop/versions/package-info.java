// SPDX-License-Identifier: Apache-2.0

/** Forms that carry a version. */
@NullMarked
package io.bitjang.shop.versions;

import org.jspecify.annotations.NullMarked;
