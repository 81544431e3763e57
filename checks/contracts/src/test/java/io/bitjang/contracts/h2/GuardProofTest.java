// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.h2;

import io.bitjang.testkit.OnDatabase;
import io.bitjang.contracts.proof.GuardProof;

@OnDatabase("h2-server")
class GuardProofTest extends GuardProof {}
