// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.h2;

import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.StatementFaultContract;

@OnDatabase("h2-server")
class StatementFaultTest extends StatementFaultContract {}
