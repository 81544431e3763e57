// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Lease;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.testkit.CountingDataSource;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/**
 * Where the database can block, the processes that wait for the same lock stand in line: they get it in the order of their arrival
 * and hardly poll; and nothing depends on the line but that. H2 can't block, so there they poll, and chance decides.
 */
public abstract class LineContract extends OnObservedLocks {

    /** How long the server is asked to wait at a time: whoever waits longer stands in line anew, behind those who came meanwhile. */
    private static final Duration SLICE = Duration.ofSeconds(5);

    private final List<String> order = Collections.synchronizedList(new ArrayList<>());

    /** For the databases. */
    protected LineContract() {}

    private record Node(String owner, Locks locks, CountingDataSource seen) {}

    private Node newNode(String owner) {
        CountingDataSource its = new CountingDataSource(pool);
        return new Node(owner, closing(Locks.builder(its).owner(owner).build()), its);
    }

    private boolean blocks() {
        return !database.name().equals("h2");
    }

    /** How many sessions of the server wait for a session lock right now. */
    private int inLine() throws SQLException {
        String waiting = database.name().equals("postgresql")
                ? "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory'"
                : "SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'User lock'";
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(waiting)) {
            row.next();
            return row.getInt(1);
        }
    }

    private Crew.Job<Boolean> waits(Node node) {
        return crew.start(() -> {
            try (Lease lease = node.locks.lease(name("a")).acquire(Wait.forever())) {
                order.add(node.owner);
            }
            return true;
        });
    }

    /** The first one of a line waits for the lock itself, with the gate in its hands. */
    private Crew.Job<Boolean> waitsFirst(Node node) throws Exception {
        AtomicBoolean passed = new AtomicBoolean(!blocks());
        node.seen.afterStatement(sql -> {
            if (isGate(sql)) {
                passed.set(true);
            }
        });
        Crew.Job<Boolean> job = waits(node);
        Crew.eventually("the first one has passed the gate", passed::get);
        return job.untilItWaits();
    }

    private Crew.Job<Boolean> waitsBehind(Node node, int place) throws Exception {
        Crew.Job<Boolean> job = waits(node);
        Crew.eventually(node.owner + " stands in line", () -> !blocks() || inLine() == place);
        return job.untilItWaits();
    }

    /**
     * Keeps those of a node who stand in line from looking at the table until they have passed the gate: whoever finds the lock free
     * twice, half a second apart, tries for it, as the next in line may be late on a machine that stands still.
     */
    private void looksNoMore(Node node) {
        CountDownLatch passed = new CountDownLatch(blocks() ? 1 : 0);
        node.seen.afterStatement(sql -> {
            if (isGate(sql)) {
                passed.countDown();
            }
        });
        node.seen.onStatement(sql -> {
            if (sql.contains("_locks") && !sql.contains("pg_locks")) {
                awaitPatiently(passed);
            }
        });
    }

    private static void awaitPatiently(CountDownLatch latch) {
        try {
            latch.await(Crew.PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static boolean isGate(String sql) {
        return sql.contains("pg_advisory_lock") || sql.contains("GET_LOCK");
    }

    @Test
    void processes_get_a_lock_in_the_order_in_which_they_came() throws Exception {
        List<Node> nodes = List.of(newNode("a"), newNode("b"), newNode("c"), newNode("d"));
        int rounds = 0;
        while (rounds < 3) {
            order.clear();
            nodes.forEach(node -> node.seen.onStatement(sql -> {}));
            Lease held = locks.lease(name("a")).acquire(Wait.forever());
            List<Crew.Job<Boolean>> jobs = new ArrayList<>();
            jobs.add(waitsFirst(nodes.get(0)));
            Instant began = Instant.now();
            for (int i = 1; i < nodes.size(); i++) {
                jobs.add(waitsBehind(nodes.get(i), i));
                looksNoMore(nodes.get(i));
            }
            held.close();
            for (Crew.Job<Boolean> job : jobs) {
                job.result();
            }
            // on a machine that stands still for so long, a round tells nothing of the order
            boolean told = began.plus(SLICE).isAfter(Instant.now());
            assertThat(blocks() && told ? order : order.stream().sorted().toList())
                    .as("round %s", rounds)
                    .containsExactly("a", "b", "c", "d");
            rounds += told ? 1 : 0;
        }
    }

    @Test
    void who_stands_in_line_hardly_polls() throws Exception {
        Lease held = locks.lease(name("a")).acquire(Wait.forever());
        Crew.Job<Boolean> first = waitsFirst(newNode("a"));
        Node second = newNode("b");
        Crew.Job<Boolean> behind = waitsBehind(second, 1);
        second.seen.reset();
        long before = System.nanoTime();
        Thread.sleep(1000);
        int trips = second.seen.roundTrips();
        long millis = (System.nanoTime() - before) / 1_000_000;
        held.close();
        first.result();
        behind.result();

        // twice a second in line, and every 50 to 62 ms where there is none
        assertThat((long) trips)
                .as("round trips in %s ms", millis)
                .isBetween(blocks() ? 0L : 1L, blocks() ? 3 + millis / 500 : 2 + millis / 50);
    }

    @Test
    void a_session_that_is_killed_in_line_costs_nobody_the_lock() throws Exception {
        Lease held = locks.lease(name("a")).lasting(Duration.ofMinutes(1)).acquire(Wait.forever());
        Crew.Job<Boolean> first = waitsFirst(newNode("a"));
        Crew.Job<Boolean> behind = waitsBehind(newNode("b"), 1);
        if (blocks()) {
            try (Connection mine = database.dataSource().getConnection()) {
                database.killSessions(mine);
            }
        }
        held.close();

        assertThat(first.result()).isTrue();
        assertThat(behind.result()).isTrue();
    }

    @Test
    void who_stands_behind_a_process_that_hangs_gets_the_lock_all_the_same() throws Exception {
        Lease held = locks.lease(name("a")).acquire(Wait.forever());
        Node stuck = newNode("stuck");
        waitsFirst(stuck);
        Crew.Job<Boolean> behind = waitsBehind(newNode("b"), 1);
        Gate gate = closing(new Gate());
        stuck.seen.onStatement(sql -> gate.pass());
        held.close();

        assertThat(behind.result()).isTrue();
        assertThat(order).containsExactly("b");
        stuck.seen.clearHooks();
    }

    @Test
    void a_line_for_one_lock_does_not_keep_others_waiting() throws Exception {
        Lease held = locks.lease(name("a")).acquire(Wait.forever());
        Node node = newNode("a");
        Crew.Job<Boolean> first = waitsFirst(node);
        Lease heldToo = locks.lease(name("b")).acquire(Wait.forever());
        var second = crew.start(() -> node.locks.lease(name("b")).acquire(Wait.forever()));
        second.untilItWaits();
        heldToo.close();
        second.result().close();
        held.close();

        assertThat(first.result()).isTrue();
    }
}
