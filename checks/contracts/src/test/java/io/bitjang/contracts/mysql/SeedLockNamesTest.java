// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.mysql;

import io.bitjang.contracts.seeds.SeedLockNames;
import io.bitjang.testkit.OnDatabase;

@OnDatabase("mysql")
class SeedLockNamesTest extends SeedLockNames {}
