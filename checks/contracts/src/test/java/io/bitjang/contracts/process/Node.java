// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.process;

import io.bitjang.Lease;
import io.bitjang.LockException;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.testkit.TestDatabase;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.Optional;
import javax.sql.DataSource;

/** A process with locks of its own that does what lines on its standard input say, and answers each with a line. */
final class Node {

    private final Locks locks;
    private Optional<Lease> lease = Optional.empty();

    private Node(Locks locks) {
        this.locks = locks;
    }

    /** The arguments of {@link #main} that lead to this database. */
    static String[] args(TestDatabase database) {
        return new String[] {database.jdbcUrl(), database.user(), database.password()};
    }

    /** Address, user and password. */
    public static void main(String[] args) throws Exception {
        InvocationHandler open = (proxy, method, arguments) -> DriverManager.getConnection(args[0], args[1], args[2]);
        DataSource source = (DataSource)
                Proxy.newProxyInstance(Node.class.getClassLoader(), new Class<?>[] {DataSource.class}, open);
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (Locks locks = Locks.builder(source).owner("child").build()) {
            Node node = new Node(locks);
            say("ready");
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                say(node.answer(line.split(" ")));
            }
        }
    }

    private static void say(String line) {
        System.out.println(line);
    }

    private String answer(String[] words) {
        try {
            return switch (words[0]) {
                case "acquire" ->
                    acquired(locks.lease(words[1]).lasting(millis(words[2])).tryAcquire());
                case "wait" -> acquired(Optional.of(locks.lease(words[1]).acquire(Wait.upTo(millis(words[2])))));
                case "told" -> {
                    lease.orElseThrow()
                            .onLost(lost -> say("lost " + lost.lostBecause().orElseThrow()));
                    yield "will be told";
                }
                case "state" ->
                    "state " + lease.orElseThrow().state()
                            + lease.orElseThrow().lostBecause().map(" "::concat).orElse("");
                case "renew" -> {
                    lease.orElseThrow().renew();
                    yield "renewed";
                }
                case "close" -> {
                    lease.orElseThrow().close();
                    yield "closed";
                }
                case "dist" -> "dist " + locks.distLock().tryLock(words[1], "child", millis(words[2]));
                default -> throw new IllegalArgumentException(words[0]);
            };
        } catch (LockException e) {
            return e.getClass().getSimpleName() + " " + e.getMessage().replaceAll("\\s+", " ");
        } catch (RuntimeException e) {
            StringWriter trace = new StringWriter();
            e.printStackTrace(new PrintWriter(trace, true));
            return "FAILED " + trace.toString().replaceAll("\\s+", " ");
        }
    }

    private String acquired(Optional<Lease> granted) {
        if (granted.isEmpty()) {
            return "refused";
        }
        lease = granted;
        return "fence " + granted.get().fence();
    }

    private static Duration millis(String text) {
        return Duration.ofMillis(Long.parseLong(text));
    }
}
