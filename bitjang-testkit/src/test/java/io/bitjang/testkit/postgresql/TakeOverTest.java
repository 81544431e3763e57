// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.postgresql;

import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.TakeOverContract;

@OnDatabase("postgresql")
class TakeOverTest extends TakeOverContract {}
