// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.postgresql;

import io.bitjang.contracts.proof.GuardProof;
import io.bitjang.testkit.OnDatabase;

@OnDatabase("postgresql")
class GuardProofTest extends GuardProof {}
