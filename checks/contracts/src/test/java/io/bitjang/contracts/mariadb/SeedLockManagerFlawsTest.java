// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.mariadb;

import io.bitjang.contracts.seeds.SeedLockManagerFlaws;
import io.bitjang.testkit.OnDatabase;

@OnDatabase("mariadb")
class SeedLockManagerFlawsTest extends SeedLockManagerFlaws {}
