// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.mariadb;

import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.SessionLockContract;

@OnDatabase("mariadb")
class SessionLockTest extends SessionLockContract {}
