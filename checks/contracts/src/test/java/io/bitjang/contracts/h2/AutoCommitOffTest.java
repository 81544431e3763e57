// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.h2;

import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.AutoCommitOffContract;

@OnDatabase("h2")
class AutoCommitOffTest extends AutoCommitOffContract {}
