// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.mariadb;

import io.bitjang.testkit.OnDatabase;
import io.bitjang.contracts.seeds.SeedLockManagerFlaws;

@OnDatabase("mariadb")
class SeedLockManagerFlawsTest extends SeedLockManagerFlaws {}
