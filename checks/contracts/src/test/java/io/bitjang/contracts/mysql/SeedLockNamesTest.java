// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.mysql;

import io.bitjang.testkit.OnDatabase;
import io.bitjang.contracts.seeds.SeedLockNames;

@OnDatabase("mysql")
class SeedLockNamesTest extends SeedLockNames {}
