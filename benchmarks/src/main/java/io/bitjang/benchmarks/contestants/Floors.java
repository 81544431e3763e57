// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.contestants;

import io.bitjang.benchmarks.places.Place;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Statement;
import org.redisson.Redisson;
import org.redisson.api.RBucket;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** What the servers can do at best. They exclude nobody. Each thread has a connection and a prepared statement of its own. */
final class Floors {

    private static final String TABLE = "bench_floor";

    private Floors() {}

    /** One prepared single-row UPDATE with auto-commit to take, one to release; on Redis, a SET each. */
    static Contestant updates(Place place) throws Exception {
        if (place.kind() == Place.Kind.REDIS) {
            return redis(place, true);
        }
        try (Connection connection = place.connect();
                Statement statement = connection.createStatement()) {
            Tables.create(
                    statement, TABLE, "(name varchar(200) PRIMARY KEY, holder varchar(100), counter bigint NOT NULL)");
        }
        return name -> {
            Connection connection = place.connect();
            try (PreparedStatement insert =
                    connection.prepareStatement("INSERT INTO " + TABLE + " VALUES (?, NULL, 0)")) {
                insert.setString(1, name + "-" + Thread.currentThread().getId());
                Tables.ignoringDuplicate(insert::executeUpdate);
            }
            PreparedStatement update = connection.prepareStatement(
                    "UPDATE " + TABLE + " SET holder = ?, counter = counter + 1 WHERE name = ?");
            update.setString(2, name + "-" + Thread.currentThread().getId());
            return section(
                    connection,
                    () -> {
                        update.setString(1, "me");
                        update.executeUpdate();
                    },
                    () -> {
                        update.setString(1, null);
                        update.executeUpdate();
                    });
        };
    }

    /** A round trip to take, one to release. */
    static Contestant roundTrips(Place place) throws Exception {
        if (place.kind() == Place.Kind.REDIS) {
            return redis(place, false);
        }
        return name -> {
            Connection connection = place.connect();
            PreparedStatement select = connection.prepareStatement("SELECT 1");
            Step trip = () -> select.executeQuery().close();
            return section(connection, trip, trip);
        };
    }

    private static Contestant redis(Place place, boolean write) {
        RedissonClient client = redisson(place);
        return new Contestant() {
            @Override
            public Section section(String name) {
                RBucket<String> bucket = client.getBucket(name + "-floor", StringCodec.INSTANCE);
                Step trip = write ? () -> bucket.set("me") : bucket::get;
                return Floors.section(() -> {}, trip, trip);
            }

            @Override
            public void close() {
                client.shutdown();
            }
        };
    }

    static RedissonClient redisson(Place place) {
        Config config = new Config();
        config.useSingleServer().setAddress(place.address());
        return Redisson.create(config);
    }

    private interface Step {
        void take() throws Exception;
    }

    private static Contestant.Section section(AutoCloseable resource, Step enter, Step leave) {
        return new Contestant.Section() {
            @Override
            public void enter() throws Exception {
                enter.take();
            }

            @Override
            public void leave() throws Exception {
                leave.take();
            }

            @Override
            public void close() throws Exception {
                resource.close();
            }
        };
    }
}
