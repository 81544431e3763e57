// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/** What a {@link Cluster} is started with, beyond what its product has by itself. Immutable. */
public final class ClusterSettings {

    private static final int ALL = 0;

    private final Map<Integer, Map<String, String>> servers;
    private final boolean networks;
    private final boolean clocks;

    private ClusterSettings(Map<Integer, Map<String, String>> servers, boolean networks, boolean clocks) {
        this.servers = servers;
        this.networks = networks;
        this.clocks = clocks;
    }

    /** As the product comes, but for the disk: commits are handed to the operating system and survive the server, not the machine. */
    public static ClusterSettings defaults() {
        return new ClusterSettings(Map.of(), false, false);
    }

    /**
     * A setting of the servers, by the name it has there.
     *
     * @param name like {@code wsrep_sync_wait} or {@code synchronous_standby_names}. What is given as {@code wsrep_provider_options} is
     *     added to the options that the cluster needs
     */
    public ClusterSettings with(String name, String value) {
        return withOf(ALL, name, value);
    }

    /** A setting of one member, counted from 1, which goes before that of all. */
    public ClusterSettings with(int member, String name, String value) {
        if (member < 1 || member > Cluster.MEMBERS) {
            throw new IllegalArgumentException("A cluster has the members 1 to " + Cluster.MEMBERS + ", not " + member);
        }
        return withOf(member, name, value);
    }

    private ClusterSettings withOf(int member, String name, String value) {
        Map<Integer, Map<String, String>> more = new TreeMap<>();
        servers.forEach((number, settings) -> more.put(number, new LinkedHashMap<>(settings)));
        more.computeIfAbsent(member, added -> new LinkedHashMap<>()).put(name, value);
        return new ClusterSettings(more, networks, clocks);
    }

    /**
     * Every member gets a network of its own, so that it can be {@linkplain ClusterMember#cutOff() cut off}. Needs root, because only
     * root may connect networks on Linux. Where that can't be had, the test is aborted with a message or, with {@code bitjang.ci=true},
     * fails.
     */
    public ClusterSettings cuttable() {
        return new ClusterSettings(servers, true, clocks);
    }

    /**
     * Every member gets a clock of its own, which can be {@linkplain ClusterMember#clock set wrong}. Needs libfaketime; where it is
     * missing, the test is aborted with a message or, with {@code bitjang.ci=true}, fails.
     */
    public ClusterSettings wrongClocks() {
        return new ClusterSettings(servers, networks, true);
    }

    Map<String, String> of(int member) {
        Map<String, String> settings = new LinkedHashMap<>(servers.getOrDefault(ALL, Map.of()));
        settings.putAll(servers.getOrDefault(member, Map.of()));
        return settings;
    }

    boolean hasNetworks() {
        return networks;
    }

    boolean hasClocks() {
        return clocks;
    }
}
