// SPDX-License-Identifier: Apache-2.0
/**
 * What Bitjang promises, as tests: one abstract class for each contract. A class of five lines runs one on a database:
 *
 * <pre>{@code
 * @OnDatabase("postgresql")
 * class LockManagerTest extends LockManagerContract {}
 * }</pre>
 */
@NullMarked
package io.bitjang.testkit.contract;

import org.jspecify.annotations.NullMarked;
