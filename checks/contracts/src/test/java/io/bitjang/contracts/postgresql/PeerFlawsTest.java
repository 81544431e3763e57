// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.postgresql;

import io.bitjang.testkit.OnDatabase;
import io.bitjang.contracts.peers.PeerFlaws;

@OnDatabase("postgresql")
class PeerFlawsTest extends PeerFlaws {}
