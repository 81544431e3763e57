// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.mysql;

import io.bitjang.contracts.peers.PeerFlaws;
import io.bitjang.testkit.OnDatabase;

@OnDatabase("mysql")
class PeerFlawsTest extends PeerFlaws {}
