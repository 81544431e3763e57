// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.postgresql;

import io.bitjang.contracts.peers.PeerFlaws;
import io.bitjang.testkit.OnDatabase;

@OnDatabase("postgresql")
class PeerFlawsTest extends PeerFlaws {}
