// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.contestants;

import io.bitjang.benchmarks.places.Place;
import java.util.List;
import java.util.function.Predicate;

/** All who take part. */
public final class Catalogue {

    /** The bare database, with two durable changes for a lock and its release. */
    public static final String FLOOR = "floor: 2 updates";

    /** The bare server, with two round trips. */
    public static final String TRIPS = "floor: 2 round trips";

    /** When nobody locks. */
    public static final String NOBODY = "nobody";

    /** Bitjang's lease. */
    public static final String LEASE = "Bitjang lease";

    /** Bitjang's session lock. */
    public static final String SESSION = "Bitjang session lock";

    private static final Predicate<Place> DATABASE = place -> place.kind() == Place.Kind.DATABASE;
    private static final Predicate<Place> REDIS = place -> place.kind() == Place.Kind.REDIS;
    private static final Predicate<Place> ZOOKEEPER = place -> place.kind() == Place.Kind.ZOOKEEPER;

    private static final List<Entry> ENTRIES = List.of(
            new Entry(FLOOR, Role.FLOOR, DATABASE.or(REDIS), Floors::updates),
            new Entry(TRIPS, Role.FLOOR, DATABASE.or(REDIS), Floors::roundTrips),
            new Entry(LEASE, Role.BITJANG, DATABASE, BitjangLease::new),
            new Entry(SESSION, Role.BITJANG, DATABASE, BitjangSession::new),
            new Entry("Bitjang offline lock", Role.BITJANG, DATABASE, BitjangOffline::new),
            new Entry("ShedLock", Role.PEER, DATABASE, ShedLock::new),
            new Entry("Spring Integration", Role.PEER, DATABASE, SpringIntegration::new),
            new Entry("seed: locks table", Role.SEED, DATABASE, SeedLocksTable::new),
            new Entry("seed: dist_lock", Role.SEED, DATABASE, SeedDistLock::new),
            new Entry(
                    "seed: a connection each",
                    Role.SEED,
                    DATABASE.and(place -> !place.isH2()),
                    SeedConnectionEach::new),
            new Entry("Redisson RLock", Role.PEER, REDIS, place -> new RedissonLock(place, false)),
            new Entry("Redisson RFencedLock", Role.PEER, REDIS, place -> new RedissonLock(place, true)),
            new Entry("Curator", Role.PEER, ZOOKEEPER, Curator::new));

    private Catalogue() {}

    /** What a contestant is to the comparison. */
    public enum Role {
        /** What the server can do at best; it excludes nobody. */
        FLOOR,
        BITJANG,
        PEER,
        /** The code of the documents that the product comes from. */
        SEED
    }

    /** How to make a contestant. */
    interface Factory {
        Contestant at(Place place) throws Exception;
    }

    /** One who takes part. */
    public record Entry(String name, Role role, Predicate<Place> plays, Factory factory) {

        /** Ready to be used. */
        public Contestant open(Place place) throws Exception {
            return factory.at(place);
        }

        /** Whether it keeps others out. */
        public boolean excludes() {
            return role != Role.FLOOR;
        }
    }

    /** Those who take part at a place. */
    public static List<Entry> at(Place place) {
        return ENTRIES.stream().filter(entry -> entry.plays().test(place)).toList();
    }

    /** All. */
    public static List<Entry> all() {
        return ENTRIES;
    }

    /** The one of that name. */
    public static Entry byName(String name) {
        return ENTRIES.stream()
                .filter(entry -> entry.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("Nobody is called " + name));
    }
}
