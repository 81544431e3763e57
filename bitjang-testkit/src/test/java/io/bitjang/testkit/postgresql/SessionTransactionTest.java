// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.postgresql;

import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.SessionTransactionContract;

@OnDatabase("postgresql")
class SessionTransactionTest extends SessionTransactionContract {}
