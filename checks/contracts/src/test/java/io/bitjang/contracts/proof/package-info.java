// SPDX-License-Identifier: Apache-2.0
/** The guard against real processes that stop at the worst moment. */
package io.bitjang.contracts.proof;
