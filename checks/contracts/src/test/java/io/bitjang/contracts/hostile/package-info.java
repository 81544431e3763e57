// SPDX-License-Identifier: Apache-2.0

/** What a server, a session or a driver may be that Bitjang must not trust. */
@NullMarked
package io.bitjang.contracts.hostile;

import org.jspecify.annotations.NullMarked;
