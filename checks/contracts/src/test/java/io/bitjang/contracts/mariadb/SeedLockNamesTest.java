// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.mariadb;

import io.bitjang.contracts.seeds.SeedLockNames;
import io.bitjang.testkit.OnDatabase;

@OnDatabase("mariadb")
class SeedLockNamesTest extends SeedLockNames {}
