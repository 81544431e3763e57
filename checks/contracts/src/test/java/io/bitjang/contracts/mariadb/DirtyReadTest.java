// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.mariadb;

import io.bitjang.contracts.hostile.DirtyRead;
import io.bitjang.testkit.OnDatabase;

@OnDatabase("mariadb")
class DirtyReadTest extends DirtyRead {}
