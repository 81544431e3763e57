// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.places;

import io.bitjang.testkit.TestDatabase;
import io.bitjang.testkit.TestDatabases;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import org.apache.curator.test.TestingServer;

/** Starts what the run needs, and says what it can't find. */
public final class Places implements AutoCloseable {

    /** Every place there is. */
    public static final List<String> ALL =
            List.of("postgresql", "mysql", "mariadb", "h2", "redis", "redis-fsync", "zookeeper");

    private final Deque<AutoCloseable> running = new ArrayDeque<>();
    private final Consumer<String> say;

    /** Tells what it does. */
    public Places(Consumer<String> say) {
        this.say = say;
        System.setProperty("bitjang.testkit.durable", "true");
    }

    /** The places of these names that can be had here. */
    public List<Place> start(List<String> names) throws Exception {
        List<Place> places = new ArrayList<>();
        for (String name : names) {
            say.accept("Starting " + name);
            try {
                places.add(start(name));
            } catch (MissingException e) {
                say.accept("Left out: " + name + ". " + e.getMessage());
            }
        }
        return places;
    }

    private Place start(String name) throws Exception {
        return switch (name) {
            case "redis" -> redis(name, List.of());
            case "redis-fsync" -> redis(name, List.of("--appendonly", "yes", "--appendfsync", "always"));
            case "zookeeper" -> {
                TestingServer server = new TestingServer();
                running.push(server);
                yield new Place(name, Place.Kind.ZOOKEEPER, server.getConnectString(), "", "");
            }
            default -> {
                TestDatabase database = TestDatabases.byName(name.equals("h2") ? "h2-server" : name);
                yield new Place(name, Place.Kind.DATABASE, database.jdbcUrl(), database.user(), database.password());
            }
        };
    }

    private Place redis(String name, List<String> settings) throws Exception {
        RedisServer server = RedisServer.start(settings);
        running.push(server);
        return new Place(name, Place.Kind.REDIS, server.address(), "", "");
    }

    @Override
    public void close() throws Exception {
        while (!running.isEmpty()) {
            running.pop().close();
        }
    }

    /** Something that the run would need is not on this machine. */
    static final class MissingException extends Exception {
        MissingException(String message) {
            super(message);
        }
    }
}
