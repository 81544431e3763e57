// SPDX-License-Identifier: Apache-2.0
package io.bitjang.demo;

import static io.bitjang.demo.NotAsPromised.unless;

import io.bitjang.LockData;
import io.bitjang.LockName;
import io.bitjang.Locks;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.h2.jdbcx.JdbcConnectionPool;
import org.h2.tools.Server;

/**
 * Three acts on one H2 database that this process serves: two JVMs compete for a job, the holder is killed and the other takes over,
 * and a node that slept past its lock can't save. Ends by itself; the exit code is 0 only if everything went as promised.
 */
public final class Demo {

    private static final String DATABASE = "mem:demo";

    private final Narrator narrator = new Narrator(Boolean.getBoolean("bitjang.demo.colour"));
    private final List<NodeProcess> nodes = new CopyOnWriteArrayList<>();
    private final JdbcConnectionPool pool;
    private final Locks locks;
    private final String url;

    private Demo(JdbcConnectionPool pool, Locks locks, int port) {
        this.pool = pool;
        this.locks = locks;
        this.url = "jdbc:h2:tcp://127.0.0.1:" + port + "/" + DATABASE;
    }

    /** Runs it. */
    public static void main(String[] args) throws SQLException {
        System.setProperty("h2.bindAddress", "127.0.0.1"); // nobody else's business
        JdbcConnectionPool pool = JdbcConnectionPool.create("jdbc:h2:" + DATABASE + ";DB_CLOSE_DELAY=-1", "sa", "");
        Server server = Server.createTcpServer("-tcpPort", "0").start();
        int exitCode = 1;
        try (Locks locks = Locks.create(pool)) {
            Demo demo = new Demo(pool, locks, server.getPort());
            Runtime.getRuntime().addShutdownHook(new Thread(demo::endNodes));
            try {
                demo.run();
                exitCode = 0;
            } catch (NotAsPromised e) {
                demo.narrator.bad("demo", e.getMessage());
            } finally {
                demo.endNodes();
            }
        }
        server.stop();
        pool.dispose();
        System.exit(exitCode);
    }

    private void run() throws SQLException {
        narrator.plain("Bitjang on one H2 database: this process serves it, every node is a JVM of its own.");
        execute("CREATE TABLE orders (id bigint PRIMARY KEY, address varchar(100))");
        execute("INSERT INTO orders VALUES (42, 'Seoul')");
        NodeProcess survivor = oneJobTwoNodes();
        NodeProcess other = start("node-3");
        aNodeThatSlept(survivor, other);
        narrator.heading("Everything went as promised.");
    }

    private NodeProcess oneJobTwoNodes() {
        narrator.heading(
                "1. Two nodes compete for the job '" + Node.JOB + "' (a lease of 2 s, renewed while it is held)");
        NodeProcess first = start("node-1");
        NodeProcess second = start("node-2");
        first.expect("ready");
        second.expect("ready");
        first.order("work");
        second.order("work");
        LockData grant = held();
        NodeProcess holder = first.name.equals(grant.owner()) ? first : second;
        NodeProcess waiter = holder == first ? second : first;
        unless(holder.expectNumber("got") == grant.fence(), "the holder knows its fence, " + grant.fence());
        narrator.good(holder.name, "got it, fence " + grant.fence());
        waiter.expect("waits");
        narrator.tell(waiter.name, "waits: it is held by " + holder.name);
        holder.expect("renewed");
        narrator.tell(holder.name, "renewed in the background, the same fence");

        narrator.heading("2. The holder is killed: kill -9 " + holder.pid());
        long killedAt = System.nanoTime();
        holder.kill();
        LockData left = held();
        narrator.bad(holder.name, "is dead, and could give nothing back");
        narrator.tell(
                waiter.name,
                "waits on: the lease ends by the database's clock, in "
                        + seconds(left.remaining().toNanos()));
        long fence = waiter.expectNumber("got");
        LockData next = held();
        narrator.good(
                waiter.name,
                "took over " + seconds(System.nanoTime() - killedAt) + " after the kill, with the next fence " + fence);
        unless(fence > left.fence(), "the fence grows: " + left.fence() + ", then " + fence);
        unless(
                next.acquiredAt() != null
                        && left.expiresAt() != null
                        && !next.acquiredAt().isBefore(left.expiresAt()),
                "it was not taken before the lease ended at " + left.expiresAt() + ", but at " + next.acquiredAt());
        return waiter;
    }

    private void aNodeThatSlept(NodeProcess sleeper, NodeProcess other) throws SQLException {
        narrator.heading("3. An editor's node is stopped past its lock, wakes up, and saves (kill -STOP, kill -CONT)");
        other.expect("ready");
        sleeper.order("open");
        long old = sleeper.expectNumber("opened");
        narrator.good(sleeper.name, "opened order 42 for editing, fence " + old + ", and means to send it to 'Busan'");
        if (!sleeper.signal("STOP")) {
            narrator.tell(
                    "demo", "this system can't stop a process (there is no kill -STOP): the third act is left out");
            return;
        }
        narrator.bad(sleeper.name, "is stopped, as by a long pause or a closed laptop");
        other.order("open");
        String holder = other.expect("locked", "opened");
        unless(holder.equals("locked " + sleeper.name), "order 42 is still locked by " + sleeper.name + ": " + holder);
        narrator.tell(other.name, "can't open order 42: " + sleeper.name + " has it");
        long fence = openWhenExpired(other);
        narrator.good(other.name, "opened order 42 when the lock had expired, with the next fence " + fence);
        unless(fence > old, "the fence grows: " + old + ", then " + fence);
        other.order("Jeju");
        other.expect("saved");
        narrator.good(other.name, "saved 'Jeju': change, check and release in one transaction");
        sleeper.signal("CONT");
        sleeper.order("Busan");
        String outcome = sleeper.expect("saved", "refused");
        unless(outcome.startsWith("refused "), "the late save is refused, not " + outcome);
        narrator.bad(sleeper.name, "woke up and saved 'Busan': refused, rolled back");
        narrator.plain("                    \"" + outcome.substring("refused ".length()) + "\"");
        String address = address();
        unless(address.equals("Jeju"), "order 42 goes to Jeju, not to " + address);
        narrator.good("demo", "order 42 goes to 'Jeju': the successor's change was kept");
    }

    private static long openWhenExpired(NodeProcess node) {
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(8);
        while (System.nanoTime() < until) {
            node.order("open");
            String answer = node.expect("locked", "opened");
            if (answer.startsWith("opened ")) {
                return Long.parseLong(answer.substring("opened ".length()));
            }
            pause();
        }
        throw new NotAsPromised("an expired lock is taken by the next who asks");
    }

    private NodeProcess start(String name) {
        NodeProcess node = NodeProcess.start(name, url);
        nodes.add(node);
        return node;
    }

    private void endNodes() {
        nodes.forEach(NodeProcess::kill);
    }

    /** What the database knows of the job, once someone holds it. */
    private LockData held() {
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
        while (System.nanoTime() < until) {
            Optional<LockData> row = locks.admin().find(LockName.of(Node.JOB)).filter(LockData::held);
            if (row.isPresent()) {
                return row.get();
            }
            pause();
        }
        throw new NotAsPromised("someone gets " + Node.JOB);
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private String address() throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT address FROM orders WHERE id = 42")) {
            row.next();
            return row.getString(1);
        }
    }

    private static String seconds(long nanos) {
        return String.format(Locale.ROOT, "%.1f s", nanos / 1e9);
    }

    private static void pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(50);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new NotAsPromised("interrupted");
        }
    }
}
