// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.mysql;

import io.bitjang.testkit.OnDatabase;
import io.bitjang.contracts.peers.PeerFlaws;

@OnDatabase("mysql")
class PeerFlawsTest extends PeerFlaws {}
