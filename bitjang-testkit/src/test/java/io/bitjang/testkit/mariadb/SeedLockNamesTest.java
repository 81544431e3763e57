// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.mariadb;

import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.seeds.SeedLockNames;

@OnDatabase("mariadb")
class SeedLockNamesTest extends SeedLockNames {}
