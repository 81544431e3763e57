// SPDX-License-Identifier: Apache-2.0

/** What all pages have in common: sign-in, language, live regions, errors. */
@NullMarked
package io.bitjang.shop.web;

import org.jspecify.annotations.NullMarked;
