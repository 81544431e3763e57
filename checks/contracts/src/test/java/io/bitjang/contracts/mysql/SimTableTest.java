// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.mysql;

import io.bitjang.contracts.simulation.SimTable;
import io.bitjang.testkit.OnDatabase;

@OnDatabase("mysql")
class SimTableTest extends SimTable {}
