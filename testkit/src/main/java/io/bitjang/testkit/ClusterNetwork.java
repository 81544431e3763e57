// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** How the members of a cluster are reached. */
interface ClusterNetwork {

    /** The address that a member listens at for everybody. */
    String listensAt();

    /** Where a member is, counted from 1. */
    Place place(int member);

    /** What a program is started with to run where that member is. */
    List<String> inside(int member);

    /** Takes a member from the others; whatever they send each other is lost. */
    void cut(int member) throws IOException;

    /** Undoes {@link #cut}. */
    void heal(int member) throws IOException;

    void end();

    /**
     * Where a member is.
     *
     * @param host as clients see it
     * @param port for clients, also for those among the other members
     * @param peer the host as the other members see it
     * @param peerPort where it talks with the other members
     * @param transferPort where it gets what it has missed
     */
    record Place(String host, int port, String peer, int peerPort, int transferPort) {

        String peerAddress() {
            return peer + ":" + peerPort;
        }
    }

    /** All members at 127.0.0.1: what every machine can do, and none of them can be cut off. */
    final class Loopback implements ClusterNetwork {

        private final List<Place> places = new ArrayList<>();

        Loopback(int members) throws IOException {
            for (int i = 0; i < members; i++) {
                places.add(new Place(Launcher.HOST, Ports.free(), Launcher.HOST, Ports.free(), Ports.free()));
            }
        }

        @Override
        public String listensAt() {
            return Launcher.HOST;
        }

        @Override
        public Place place(int member) {
            return places.get(member - 1);
        }

        @Override
        public List<String> inside(int member) {
            return List.of();
        }

        @Override
        public void cut(int member) {
            throw new IllegalStateException("On the loopback no member can be cut off from the others:"
                    + " start the cluster with ClusterSettings.cuttable()");
        }

        @Override
        public void heal(int member) {
            // nothing was cut
        }

        @Override
        public void end() {
            // nothing to give back
        }
    }
}
