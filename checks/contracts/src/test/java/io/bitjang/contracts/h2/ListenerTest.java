// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.h2;

import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.ListenerContract;

@OnDatabase("h2")
class ListenerTest extends ListenerContract {}
