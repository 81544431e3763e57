// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.mariadb;

import io.bitjang.contracts.proof.GuardProof;
import io.bitjang.testkit.OnDatabase;

@OnDatabase("mariadb")
class GuardProofTest extends GuardProof {}
