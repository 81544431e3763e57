// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

/**
 * What a member says of itself.
 *
 * @param isOnline whether it belongs to the others and has what they have, as far as it knows
 * @param isWriter whether it takes writes
 * @param members how many members it sees, itself among them, or 0 where it can't know
 * @param text the same in the product's own words, or why there is no answer
 */
record ClusterState(boolean isOnline, boolean isWriter, int members, String text) {

    static ClusterState unknown(String why) {
        return new ClusterState(false, false, 0, why);
    }

    boolean sees(int all) {
        return members == 0 || members == all;
    }
}
