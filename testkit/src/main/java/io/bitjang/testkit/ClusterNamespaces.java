// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * A network for each member, with two cables: one to this machine, for clients, and one to a switch, for the other members. A member
 * is cut off by pulling the second out of the switch: nobody is told, and what is sent is lost, as with a real one.
 *
 * <p>Each network lasts as long as the process that holds it, which ends with this JVM, however that ends; then the cables are gone,
 * too. Nothing of the machine's own network is changed but that it has three more cables meanwhile.
 */
final class ClusterNamespaces implements ClusterNetwork {

    private static final String PEERS = "10.77.0.";
    private static final int PORT = 20_001;
    private static final int PEER_PORT = 20_002;
    private static final int TRANSFER_PORT = 20_003;
    private static final int TRIES = 5;

    /** How long a network has to be there after its process was started. */
    private static final long PATIENCE_SECONDS = 10;

    private final List<ServerProcess> holders = new ArrayList<>();

    /** The first three parts of the clients' addresses, from a range that is set aside for tests of networks. */
    private final String clients = "198." + ThreadLocalRandom.current().nextInt(18, 20) + "."
            + ThreadLocalRandom.current().nextInt(256) + ".";

    private ClusterNamespaces() {}

    static ClusterNamespaces of(int members) throws IOException {
        for (int attempt = 1; ; attempt++) {
            ClusterNamespaces networks = new ClusterNamespaces();
            try {
                networks.build(members);
                return networks;
            } catch (IOException e) {
                networks.end();
                if (!Shell.isRoot() || attempt == TRIES) {
                    throw Unavailable.because(
                            "No networks for a test that cuts members off from each other, which needs root,"
                                    + " network namespaces and iproute2's ip: " + e.getMessage());
                }
            }
        }
    }

    private void build(int members) throws IOException {
        hold();
        in(0, "ip link add name switch type bridge");
        in(0, "ip link set switch up");
        String cable = "bj" + Integer.toHexString(ThreadLocalRandom.current().nextInt(0x1000000)) + "m";
        for (int member = 1; member <= members; member++) {
            hold();
            long pid = holders.get(member).pid();
            run("ip link add name " + cable + member + " type veth peer name clients netns " + pid);
            run("ip addr add " + clients + (4 * member + 1) + "/30 dev " + cable + member);
            run("ip link set " + cable + member + " up");
            in(0, "ip link add name member" + member + " type veth peer name peers netns " + pid);
            in(0, "ip link set member" + member + " up");
            in(member, "ip addr add " + clients + (4 * member + 2) + "/30 dev clients");
            in(member, "ip addr add " + PEERS + member + "/24 dev peers");
            for (String device : List.of("lo", "clients", "peers")) {
                in(member, "ip link set " + device + " up");
            }
            heal(member);
        }
    }

    /** A process that does nothing but keep a network. */
    private void hold() throws IOException {
        ServerProcess holder = ServerProcess.start(
                Running.newFolder("network"),
                new ServerProcess.Signals("KILL", "KILL"),
                null,
                List.of("unshare", "-n", "sleep", "infinity"));
        holders.add(holder);
        Path ours = Files.readSymbolicLink(Path.of("/proc/self/ns/net"));
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!hasNetworkOtherThan(ours, holder)) {
            if (!holder.isAlive() || System.nanoTime() > deadline) {
                throw new IOException("unshare -n makes no network: " + holder.logTail());
            }
            Cluster.pause(5);
        }
    }

    private static boolean hasNetworkOtherThan(Path ours, ServerProcess holder) throws IOException {
        try {
            return !Files.readSymbolicLink(namespace(holder)).equals(ours);
        } catch (NoSuchFileException e) {
            return false; // it has ended
        }
    }

    private static Path namespace(ServerProcess holder) {
        return Path.of("/proc", Long.toString(holder.pid()), "ns", "net");
    }

    private static void run(String command) throws IOException {
        Shell.require(List.of(command.split(" ")), "");
    }

    private void in(int network, String command) throws IOException {
        List<String> all = new ArrayList<>(inside(network));
        all.addAll(List.of(command.split(" ")));
        Shell.require(all, "");
    }

    /** In the network of that member, or in that of the switch, with 0. */
    @Override
    public List<String> inside(int member) {
        return List.of("nsenter", "--net=" + namespace(holders.get(member)));
    }

    /** Nobody else is in its network. */
    @Override
    public String listensAt() {
        return "0.0.0.0";
    }

    @Override
    public Place place(int member) {
        return new Place(clients + (4 * member + 2), PORT, PEERS + member, PEER_PORT, TRANSFER_PORT);
    }

    @Override
    public void cut(int member) throws IOException {
        in(0, "ip link set member" + member + " nomaster");
    }

    @Override
    public void heal(int member) throws IOException {
        in(0, "ip link set member" + member + " master switch");
    }

    @Override
    public void end() {
        for (ServerProcess holder : holders) {
            try {
                holder.end();
                Running.removeFolder(holder.folder());
            } catch (IOException e) {
                Progress.say("cannot end the network of a cluster: " + e);
            }
        }
    }
}
