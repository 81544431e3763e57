// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.postgresql;

import io.bitjang.contracts.simulation.SimTable;
import io.bitjang.testkit.OnDatabase;

@OnDatabase("postgresql")
class SimTableTest extends SimTable {}
