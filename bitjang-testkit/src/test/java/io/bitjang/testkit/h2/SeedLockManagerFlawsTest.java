// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.h2;

import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.seeds.SeedLockManagerFlaws;

@OnDatabase("h2-server")
class SeedLockManagerFlawsTest extends SeedLockManagerFlaws {}
