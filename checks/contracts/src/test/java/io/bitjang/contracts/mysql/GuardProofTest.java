// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.mysql;

import io.bitjang.testkit.OnDatabase;
import io.bitjang.contracts.proof.GuardProof;

@OnDatabase("mysql")
class GuardProofTest extends GuardProof {}
