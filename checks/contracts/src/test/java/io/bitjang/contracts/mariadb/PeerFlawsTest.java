// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.mariadb;

import io.bitjang.contracts.peers.PeerFlaws;
import io.bitjang.testkit.OnDatabase;

@OnDatabase("mariadb")
class PeerFlawsTest extends PeerFlaws {}
