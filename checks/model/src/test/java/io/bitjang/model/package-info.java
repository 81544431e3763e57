// SPDX-License-Identifier: Apache-2.0
/** The formal model of the protocol, checked. The model itself is {@code src/test/alloy/protocol.als}. */
package io.bitjang.model;
