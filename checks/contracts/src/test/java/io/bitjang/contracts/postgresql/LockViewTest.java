// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.postgresql;

import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.LockViewContract;

@OnDatabase("postgresql")
class LockViewTest extends LockViewContract {}
