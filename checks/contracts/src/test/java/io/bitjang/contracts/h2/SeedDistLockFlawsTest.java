// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.h2;

import io.bitjang.contracts.seeds.SeedDistLockFlaws;
import io.bitjang.testkit.OnDatabase;

@OnDatabase("h2-server")
class SeedDistLockFlawsTest extends SeedDistLockFlaws {}
