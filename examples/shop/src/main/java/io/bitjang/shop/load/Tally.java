// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.load;

import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.LongAdder;

/** What the editors have seen. Thread-safe. */
final class Tally {

    private final Map<Integer, LongAdder> saves = new ConcurrentHashMap<>();
    private final LongAdder refused = new LongAdder();
    private final Queue<Long> pages = new ConcurrentLinkedQueue<>();
    private final Queue<String> broken = new ConcurrentLinkedQueue<>();

    void saved(int order) {
        saves.computeIfAbsent(order, key -> new LongAdder()).increment();
    }

    void refused() {
        refused.increment();
    }

    void page(long nanos) {
        pages.add(nanos);
    }

    void broke(String editor, Exception e) {
        broken.add(editor + ": " + e);
    }

    long savesOf(int order) {
        LongAdder known = saves.get(order);
        return known == null ? 0 : known.sum();
    }

    long saves() {
        return saves.values().stream().mapToLong(LongAdder::sum).sum();
    }

    long refusals() {
        return refused.sum();
    }

    Queue<String> broken() {
        return broken;
    }

    int pages() {
        return pages.size();
    }

    /** In milliseconds: so many of a thousand pages took no longer. */
    double perMille(int part) {
        long[] sorted = pages.stream().mapToLong(Long::longValue).sorted().toArray();
        return sorted.length == 0 ? 0 : sorted[Math.min(sorted.length - 1, sorted.length * part / 1000)] / 1e6;
    }
}
