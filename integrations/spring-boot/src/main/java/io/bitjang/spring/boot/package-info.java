// SPDX-License-Identifier: Apache-2.0

/** Auto-configuration for Spring Boot. */
@NullMarked
package io.bitjang.spring.boot;

import org.jspecify.annotations.NullMarked;
