// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.mysql;

import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.seeds.SeedLockNames;

@OnDatabase("mysql")
class SeedLockNamesTest extends SeedLockNames {}
