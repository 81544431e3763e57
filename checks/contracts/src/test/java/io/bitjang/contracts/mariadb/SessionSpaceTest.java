// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.mariadb;

import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.SessionSpaceContract;

@OnDatabase("mariadb")
class SessionSpaceTest extends SessionSpaceContract {}
