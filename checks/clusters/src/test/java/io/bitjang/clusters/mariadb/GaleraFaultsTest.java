// SPDX-License-Identifier: Apache-2.0
package io.bitjang.clusters.mariadb;

import io.bitjang.clusters.ClusterFaults;
import io.bitjang.testkit.ClusterKind;
import io.bitjang.testkit.ClusterSettings;

class GaleraFaultsTest extends ClusterFaults {
    GaleraFaultsTest() {
        super(ClusterKind.GALERA, ClusterSettings.defaults());
    }
}
