// SPDX-License-Identifier: Apache-2.0

/** The engine of leases and offline locks: grants, queues, renewal, loss. */
@NullMarked
package io.bitjang.internal.lease;

import org.jspecify.annotations.NullMarked;
