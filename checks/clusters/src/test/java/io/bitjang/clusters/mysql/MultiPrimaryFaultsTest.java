// SPDX-License-Identifier: Apache-2.0
package io.bitjang.clusters.mysql;

import io.bitjang.clusters.ClusterFaults;
import io.bitjang.testkit.ClusterKind;
import io.bitjang.testkit.ClusterMember;
import io.bitjang.testkit.ClusterSettings;
import org.junit.jupiter.api.Tag;

@Tag("soak")
class MultiPrimaryFaultsTest extends ClusterFaults {
    MultiPrimaryFaultsTest() {
        // or else the others wait for a member that is gone, and elect nobody meanwhile
        super(
                ClusterKind.MULTI_PRIMARY,
                ClusterSettings.defaults().with("group_replication_member_expel_timeout", "0"));
    }

    /**
     * MySQL 8.0.33 has a flaw that later versions don't have: the others crash when they hear at last what a member sent that they
     * have expelled.
     */
    @Override
    protected void comesBack(ClusterMember former) {
        former.kill();
        former.heal();
        former.rejoin();
    }
}
