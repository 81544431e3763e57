// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.contestants;

import io.bitjang.benchmarks.places.Place;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Redisson's {@code RLock}, or the one with a fence. */
final class RedissonLock implements Contestant {

    private final RedissonClient client;
    private final boolean fenced;

    RedissonLock(Place place, boolean fenced) {
        this.client = Floors.redisson(place);
        this.fenced = fenced;
    }

    @Override
    public Section section(String name) {
        RLock lock = fenced ? client.getFencedLock("fenced-" + name) : client.getLock(name);
        return Section.of(lock);
    }

    @Override
    public void close() {
        client.shutdown();
    }
}
