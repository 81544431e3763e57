// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.mariadb;

import io.bitjang.testkit.OnDatabase;
import io.bitjang.contracts.proof.GuardProof;

@OnDatabase("mariadb")
class GuardProofTest extends GuardProof {}
