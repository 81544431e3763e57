// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.contestants;

import io.bitjang.benchmarks.places.Place;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Curator's {@code InterProcessMutex} on ZooKeeper. */
final class Curator implements Contestant {

    private final CuratorFramework client;

    Curator(Place place) {
        this.client = CuratorFrameworkFactory.newClient(place.address(), new ExponentialBackoffRetry(100, 5));
        client.start();
    }

    @Override
    public Section section(String name) {
        InterProcessMutex mutex = new InterProcessMutex(client, "/locks/" + name);
        return new Section() {
            @Override
            public void enter() throws Exception {
                mutex.acquire();
            }

            @Override
            public void leave() throws Exception {
                mutex.release();
            }
        };
    }

    @Override
    public void close() {
        client.close();
    }
}
