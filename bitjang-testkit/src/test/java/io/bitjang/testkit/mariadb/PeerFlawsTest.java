// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.mariadb;

import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.peers.PeerFlaws;

@OnDatabase("mariadb")
class PeerFlawsTest extends PeerFlaws {}
