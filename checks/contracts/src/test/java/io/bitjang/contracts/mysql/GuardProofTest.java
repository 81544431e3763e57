// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.mysql;

import io.bitjang.contracts.proof.GuardProof;
import io.bitjang.testkit.OnDatabase;

@OnDatabase("mysql")
class GuardProofTest extends GuardProof {}
