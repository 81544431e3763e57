// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.h2;

import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.SessionSpaceContract;

@OnDatabase("h2")
class SessionSpaceTest extends SessionSpaceContract {}
