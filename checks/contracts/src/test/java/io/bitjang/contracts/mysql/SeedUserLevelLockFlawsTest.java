// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.mysql;

import io.bitjang.contracts.seeds.SeedUserLevelLockFlaws;
import io.bitjang.testkit.OnDatabase;

@OnDatabase("mysql")
class SeedUserLevelLockFlawsTest extends SeedUserLevelLockFlaws {}
