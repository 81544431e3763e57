// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.postgresql;

import io.bitjang.contracts.seeds.SeedUserLevelLockFlaws;
import io.bitjang.testkit.OnDatabase;

@OnDatabase("postgresql")
class SeedUserLevelLockFlawsTest extends SeedUserLevelLockFlaws {}
