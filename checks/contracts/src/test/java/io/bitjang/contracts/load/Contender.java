// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.load;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.AlreadyLockedException;
import io.bitjang.Lease;
import io.bitjang.LeaseLock;
import io.bitjang.LockId;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.Wait;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/**
 * One of the processes that compete: threads that take a lock, count in the database without any protection but the lock, and write
 * down what they saw. Told by lines: {@code prepare} with mode, names, table and the file of the history, {@code go}, {@code stop}; and
 * so again, because a process takes longer to start than some hundred grants.
 */
final class Contender {

    /** How locks are taken. */
    enum Mode {
        LEASE,
        LEASE_ALL,
        UNSEEN_LEASE,
        OFFLINE,
        SESSION
    }

    private static final Duration LEASE = Duration.ofSeconds(10);
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration OFFLINE_LOCK = Duration.ofSeconds(30);

    private final int jvm;
    private final Mode mode;
    private final List<String> names;
    private final String table;
    private final ConcurrentLinkedQueue<String> history = new ConcurrentLinkedQueue<>();
    private final AtomicInteger grants = new AtomicInteger();
    private final Map<Integer, Integer> ofThread = new ConcurrentHashMap<>();
    private volatile boolean stopped;

    private Contender(int jvm, Mode mode, List<String> names, String table) {
        this.jvm = jvm;
        this.mode = mode;
        this.names = names;
        this.table = table;
    }

    /** Address, user, password, number of this process, threads. */
    public static void main(String[] args) throws Exception {
        int jvm = Integer.parseInt(args[3]);
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(args[0]);
        config.setUsername(args[1]);
        config.setPassword(args[2]);
        config.setMaximumPoolSize(10);
        List<Connection> counters = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[4]); i++) {
            counters.add(DriverManager.getConnection(args[0], args[1], args[2]));
        }
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (HikariDataSource pool = new HikariDataSource(config)) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                String[] words = line.split(" ");
                if (words[0].equals("prepare")) {
                    new Contender(jvm, Mode.valueOf(words[1]), List.of(words[2].split(",")), words[3])
                            .compete(pool, counters, in, Path.of(words[4]));
                }
            }
        }
    }

    private void compete(DataSource pool, List<Connection> counters, BufferedReader in, Path file) throws Exception {
        try (Locks locks = Locks.builder(pool)
                .schema(Locks.Schema.NONE)
                .owner("jvm-" + jvm)
                .build()) {
            List<Thread> running = new ArrayList<>();
            for (int i = 0; i < counters.size(); i++) {
                int number = i;
                running.add(new Thread(() -> work(locks, counters.get(number), number)));
            }
            System.out.println("ready");
            await(in, "go");
            running.forEach(Thread::start);
            while (!in.ready()) {
                System.out.println("grants " + grants + " " + least(counters.size()));
                TimeUnit.MILLISECONDS.sleep(20);
            }
            await(in, "stop");
            stopped = true;
            for (Thread thread : running) {
                thread.join();
            }
        }
        Files.write(file, history);
        System.out.println("written");
    }

    /** How many grants the thread has had that got least. */
    private int least(int threads) {
        return ofThread.size() < threads ? 0 : Collections.min(ofThread.values());
    }

    private static void await(BufferedReader in, String word) throws Exception {
        for (String line = in.readLine(); !word.equals(line); line = in.readLine()) {
            if (line == null) {
                throw new IllegalStateException("Nobody says " + word);
            }
        }
    }

    private void work(Locks locks, Connection counter, int thread) {
        try {
            while (!stopped) {
                List<String> wanted = choose();
                switch (mode) {
                    case LEASE, LEASE_ALL -> underLease(locks, counter, thread, wanted);
                    case UNSEEN_LEASE -> underUnseenLease(locks, counter, thread, wanted.get(0));
                    case OFFLINE -> underOfflineLock(locks, counter, thread, wanted.get(0));
                    case SESSION -> underSessionLock(locks, counter, thread, wanted.get(0));
                }
            }
        } catch (SQLException | RuntimeException e) {
            history.add(History.failure(jvm, thread, e));
        }
    }

    private List<String> choose() {
        int first = ThreadLocalRandom.current().nextInt(names.size());
        if (mode != Mode.LEASE_ALL) {
            return List.of(names.get(first));
        }
        int second = ThreadLocalRandom.current().nextInt(names.size() - 1);
        return List.of(names.get(first), names.get(second < first ? second : second + 1));
    }

    private void underLease(Locks locks, Connection counter, int thread, List<String> wanted) throws SQLException {
        LeaseLock lock = locks.leaseAll(wanted.stream().map(LockName::of).toList());
        try (Lease lease = lock.lasting(LEASE).acquire(Wait.upTo(PATIENCE))) {
            count(counter, thread, wanted, lease.fence());
        }
    }

    private void underOfflineLock(Locks locks, Connection counter, int thread, String name) throws SQLException {
        try {
            LockId id = locks.manager().tryLock("load", name, "thread-" + thread, OFFLINE_LOCK);
            count(counter, thread, List.of(name), id.fence());
            locks.manager().releaseLock(id);
        } catch (AlreadyLockedException e) {
            // what an impatient person does
            pause();
        }
    }

    /** Nobody sees its fence: the count itself, which must grow, stands in for it. */
    private void underUnseenLease(Locks locks, Connection counter, int thread, String name) throws SQLException {
        locks.lease(name)
                .lasting(LEASE)
                .run(Wait.upTo(PATIENCE), () -> count(counter, thread, List.of(name), 1 + read(counter, name)));
    }

    /** It has no fence: the same. */
    private void underSessionLock(Locks locks, Connection counter, int thread, String name) throws SQLException {
        locks.session(name)
                .run(Wait.upTo(PATIENCE), () -> count(counter, thread, List.of(name), 1 + read(counter, name)));
    }

    private static void pause() {
        try {
            TimeUnit.MICROSECONDS.sleep(ThreadLocalRandom.current().nextInt(5_000, 40_000));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Reads and writes in two steps: were another inside too, one of the two increments would be lost. */
    private void count(Connection counter, int thread, List<String> held, long fence) throws SQLException {
        long entered = System.nanoTime();
        int[] seen = new int[held.size()];
        for (int i = 0; i < seen.length; i++) {
            seen[i] = read(counter, held.get(i));
        }
        for (int i = 0; i < seen.length; i++) {
            write(counter, held.get(i), seen[i] + 1);
        }
        long left = System.nanoTime();
        for (int i = 0; i < seen.length; i++) {
            history.add(new History.Grant(held.get(i), fence, jvm, thread, entered, left, seen[i]).line());
        }
        grants.incrementAndGet();
        ofThread.merge(thread, 1, Integer::sum);
    }

    private int read(Connection counter, String name) throws SQLException {
        try (PreparedStatement select = counter.prepareStatement("SELECT total FROM " + table + " WHERE name = ?")) {
            select.setString(1, name);
            try (ResultSet row = select.executeQuery()) {
                row.next();
                return row.getInt(1);
            }
        }
    }

    private void write(Connection counter, String name, int total) throws SQLException {
        try (PreparedStatement update = counter.prepareStatement("UPDATE " + table + " SET total = ? WHERE name = ?")) {
            update.setInt(1, total);
            update.setString(2, name);
            update.executeUpdate();
        }
    }
}
