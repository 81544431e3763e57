// SPDX-License-Identifier: Apache-2.0
/** What other libraries for locks in a database were seen to do wrong, and Bitjang does not. */
package io.bitjang.contracts.peers;
