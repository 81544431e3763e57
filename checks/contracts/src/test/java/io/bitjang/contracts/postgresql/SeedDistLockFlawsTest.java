// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.postgresql;

import io.bitjang.contracts.seeds.SeedDistLockFlaws;
import io.bitjang.testkit.OnDatabase;

@OnDatabase("postgresql")
class SeedDistLockFlawsTest extends SeedDistLockFlaws {}
