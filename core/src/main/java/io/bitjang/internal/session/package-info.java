// SPDX-License-Identifier: Apache-2.0

/** Session locks: who has which (Turns), over which connections (SessionConnections), and the engine that ties them together. */
@NullMarked
package io.bitjang.internal.session;

import org.jspecify.annotations.NullMarked;
