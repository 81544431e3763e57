// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.mariadb;

import io.bitjang.contracts.simulation.SimTable;
import io.bitjang.testkit.OnDatabase;

@OnDatabase("mariadb")
class SimTableTest extends SimTable {}
