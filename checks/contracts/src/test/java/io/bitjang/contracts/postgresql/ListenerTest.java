// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.postgresql;

import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.ListenerContract;

@OnDatabase("postgresql")
class ListenerTest extends ListenerContract {}
