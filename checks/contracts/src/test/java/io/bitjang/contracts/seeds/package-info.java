// SPDX-License-Identifier: Apache-2.0
/**
 * The code that the documents show from which Bitjang comes, written down plainly, and what is wrong with it: each flaw is shown on a
 * real database, and next to it that Bitjang does not have it.
 */
package io.bitjang.contracts.seeds;
