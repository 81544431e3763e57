// SPDX-License-Identifier: Apache-2.0

/** Safe changes of aggregates with JPA: pessimistic, optimistic, and with the version of a form. */
@NullMarked
package io.bitjang.jpa;

import org.jspecify.annotations.NullMarked;
