// SPDX-License-Identifier: Apache-2.0
/** The table on which the engine is simulated, next to real ones. */
package io.bitjang.contracts.simulation;
