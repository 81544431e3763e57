// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.nodes;

import io.bitjang.LockData;
import io.bitjang.admin.LockAdmin;
import io.bitjang.shop.start.RunFile;
import io.bitjang.testkit.ChildJvm;
import jakarta.annotation.PreDestroy;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** The nodes, and what they have written. Starts some itself, which end with the shop; only these can be stopped by a button. */
@Component
class Nodes {

    /** What one sees of a node. */
    enum State {
        WORKING,
        WAITING,
        PAUSED,
        DEAD
    }

    /** A node, as the page shows it. */
    record Shown(String name, long pid, State state, boolean ours) {}

    /**
     * The end of a node that nobody here has ended.
     *
     * @param how its exit code, and what it said
     */
    record Ended(long pid, int code, String how) {

        /** An end of its own making, or before one could see it. A node that was killed in a terminal is shown as dead. */
        boolean isNews(List<Shown> nodes) {
            return code != 0 && (code < SIGNALLED || nodes.stream().noneMatch(node -> node.pid == pid));
        }
    }

    /**
     * A line of a book.
     *
     * @param stale whether someone with a later fence had written before
     */
    record Line(
            long line,
            String node,
            long fence,
            long atMs,
            @Nullable String refused,
            boolean stale) {

        Line after(List<Line> earlier) {
            boolean late = earlier.stream().anyMatch(each -> each.fence > fence && each.refused == null);
            return new Line(line, node, fence, atMs, refused, late);
        }
    }

    private static final Logger LOG = LoggerFactory.getLogger(Nodes.class);
    private static final int MOST = 6;
    private static final int LINES = 10;
    private static final int SIGNALLED = 128;
    private static final long SILENT_MS = 1_500;
    private static final long FORGOTTEN_MS = 60_000;

    private final JdbcClient jdbc;
    private final LockAdmin admin;
    private final String runFile;
    private final Map<Long, ChildJvm> children = new ConcurrentHashMap<>();
    private final Set<Long> paused = ConcurrentHashMap.newKeySet();
    private final Set<Long> killed = ConcurrentHashMap.newKeySet();
    private final Map<Long, Ended> ended = new ConcurrentSkipListMap<>();

    Nodes(JdbcClient jdbc, LockAdmin admin, @Value("${shop.run-file}") String runFile) {
        this.jdbc = jdbc;
        this.admin = admin;
        this.runFile = runFile;
        // what an earlier shop left; the nodes of one that is open on the same database go on
        jdbc.sql("DELETE FROM shop_node WHERE seen_at < ?")
                .param(System.currentTimeMillis() - FORGOTTEN_MS)
                .update();
        forgetTheDead();
        if (all().isEmpty()) {
            jdbc.sql("DELETE FROM shop_ledger").update();
        }
    }

    @PreDestroy
    void close() {
        killed.addAll(children.keySet());
        children.values().parallelStream().forEach(ChildJvm::close);
    }

    /** Who has the job is what the database says, whatever a node may believe. */
    List<Shown> all() {
        long now = System.currentTimeMillis();
        String holder = job().map(LockData::owner).orElse(null);
        return jdbc.sql("SELECT name, pid, seen_at FROM shop_node ORDER BY LENGTH(name), name")
                .query((row, number) -> {
                    String name = row.getString(1);
                    long pid = row.getLong(2);
                    boolean silent = paused.contains(pid) || now - row.getLong(3) > SILENT_MS;
                    return new Shown(name, pid, state(name, pid, silent, holder), children.containsKey(pid));
                })
                .list();
    }

    private static State state(String name, long pid, boolean silent, @Nullable String holder) {
        if (!isAlive(pid)) {
            return State.DEAD;
        }
        if (silent) {
            return State.PAUSED;
        }
        return name.equals(holder) ? State.WORKING : State.WAITING;
    }

    /** Those of the shop's own that have failed since the last one was started. */
    List<Ended> failed(List<Shown> nodes) {
        return ended.values().stream().filter(each -> each.isNews(nodes)).toList();
    }

    Optional<LockData> job() {
        return admin.find(Node.JOB).filter(LockData::held);
    }

    private static boolean isAlive(long pid) {
        return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false);
    }

    /** The last lines of a book, the newest first. */
    List<Line> lines(String book) {
        List<Line> lines = jdbc.sql(
                        "SELECT line, node, fence, at_ms, refused FROM shop_ledger WHERE book = ? ORDER BY at_ms DESC, line DESC")
                .param(book)
                .withMaxRows(2 * LINES)
                .query((row, number) -> new Line(
                        row.getLong(1), row.getString(2), row.getLong(3), row.getLong(4), row.getString(5), false))
                .list();
        return IntStream.range(0, Math.min(LINES, lines.size()))
                .mapToObj(i -> lines.get(i).after(lines.subList(i + 1, lines.size())))
                .toList();
    }

    /** Whether there are enough for one machine. */
    boolean isFull() {
        return children.values().stream().filter(ChildJvm::isAlive).count() >= MOST;
    }

    /** One more, unless there are enough. */
    void start() {
        children.values().removeIf(child -> !child.isAlive());
        if (!isFull()) {
            forgetTheDead();
            ended.clear();
            ChildJvm child = ChildJvm.of(Node.class)
                    .jvmArgs("-XX:TieredStopAtLevel=1") // it has little to do, and is wanted soon
                    .property(RunFile.PROPERTY, runFile)
                    .start();
            children.put(child.pid(), child);
            child.onEnd().thenAccept(how -> ended(child, how));
        }
    }

    /** Whoever waits for a node learns why there is none. */
    private void ended(ChildJvm child, String how) {
        if (!killed.remove(child.pid())) {
            LOG.warn("The node of process {} has ended, {}", child.pid(), how);
            ended.put(child.pid(), new Ended(child.pid(), child.waitFor(Duration.ZERO), how));
        }
    }

    private void forgetTheDead() {
        all().stream()
                .filter(node -> node.state() == State.DEAD)
                .forEach(node -> jdbc.sql("DELETE FROM shop_node WHERE pid = ?")
                        .param(node.pid())
                        .update());
    }

    /** As {@code kill -9} does. */
    void kill(long pid) {
        ChildJvm child = children.get(pid);
        if (child != null) {
            killed.add(pid);
            child.kill9();
            paused.remove(pid);
        }
    }

    /** As {@code kill -STOP} does. */
    void pause(long pid) {
        ChildJvm child = children.get(pid);
        if (child != null && child.isAlive() && paused.add(pid)) {
            signal(child::stop);
        }
    }

    /** As {@code kill -CONT} does. */
    void wake(long pid) {
        ChildJvm child = children.get(pid);
        if (child != null && child.isAlive()) {
            signal(child::cont);
            paused.remove(pid);
        }
    }

    /** The signal is sent; whether the process stands already can be seen on Linux only. */
    private static void signal(Runnable sending) {
        try {
            sending.run();
        } catch (UncheckedIOException e) {
            LOG.debug("Not seen: {}", e.getMessage());
        }
    }
}
