// SPDX-License-Identifier: Apache-2.0
package io.bitjang.clusters.postgresql;

import io.bitjang.clusters.ClusterFaults;
import io.bitjang.testkit.ClusterKind;
import io.bitjang.testkit.ClusterMember;
import io.bitjang.testkit.ClusterSettings;

class StandbyFaultsTest extends ClusterFaults {
    StandbyFaultsTest() {
        super(ClusterKind.SYNCHRONOUS, ClusterSettings.defaults());
    }

    /** Nobody tells a former primary that it is one. */
    @Override
    protected void comesBack(ClusterMember former) {
        former.heal();
        former.rejoin();
    }

    /** PostgreSQL elects nobody. */
    @Override
    protected void appoint(ClusterMember next) {
        next.promote();
    }
}
