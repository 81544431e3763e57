// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.mysql;

import io.bitjang.contracts.hostile.DirtyRead;
import io.bitjang.testkit.OnDatabase;

@OnDatabase("mysql")
class DirtyReadTest extends DirtyRead {}
