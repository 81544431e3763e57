// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.scenarios;

import io.bitjang.benchmarks.contestants.Contestant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** Lets threads of this process enter and leave for a while, and counts. */
final class Arena {

    private static final int SAMPLES = 200_000;

    private final Contestant contestant;
    private final @Nullable Exclusion exclusion;

    /** Without an exclusion nobody looks whether two are inside at a time. */
    Arena(Contestant contestant, @Nullable Exclusion exclusion) {
        this.contestant = contestant;
        this.exclusion = exclusion;
    }

    /** Threads, each with the name that is meant for its number; threads with the same slot share a name. */
    Outcome run(int threads, IntFunction<String> names, IntFunction<Integer> slots, Duration time) throws Exception {
        List<Worker> workers = new ArrayList<>();
        CountDownLatch ready = new CountDownLatch(threads);
        CountDownLatch go = new CountDownLatch(1);
        for (int i = 0; i < threads; i++) {
            workers.add(new Worker(names.apply(i), slots.apply(i), time, ready, go));
        }
        workers.forEach(Thread::start);
        ready.await();
        go.countDown();
        for (Worker worker : workers) {
            worker.join();
        }
        return new Outcome(
                workers.stream().mapToLong(worker -> worker.count).toArray(),
                workers.stream().mapToLong(worker -> worker.nanos).max().orElse(1),
                workers.stream().flatMapToLong(Worker::samples).sorted().toArray(),
                workers.stream().mapToLong(worker -> worker.violations).sum(),
                workers.stream()
                        .map(worker -> worker.failure)
                        .filter(f -> !f.isEmpty())
                        .findFirst()
                        .orElse(""));
    }

    private final class Worker extends Thread {
        private final String lock;
        private final int slot;
        private final Duration time;
        private final CountDownLatch ready;
        private final CountDownLatch go;
        private long[] samples = new long[1024];
        private int count;
        private long violations;
        private long nanos = 1;
        private String failure = "";

        Worker(String lock, int slot, Duration time, CountDownLatch ready, CountDownLatch go) {
            this.lock = lock;
            this.slot = slot;
            this.time = time;
            this.ready = ready;
            this.go = go;
        }

        @Override
        public void run() {
            boolean counted = false;
            try (Contestant.Section section = contestant.section(lock)) {
                counted = true;
                ready.countDown();
                go.await();
                long began = System.nanoTime();
                long end = began + time.toNanos();
                for (long now = began; now < end; ) {
                    section.enter();
                    if (exclusion != null && !exclusion.enters(slot)) {
                        violations++;
                    }
                    if (exclusion != null) {
                        exclusion.leaves(slot);
                    }
                    section.leave();
                    long after = System.nanoTime();
                    sample(after - now);
                    now = after;
                    nanos = now - began;
                }
            } catch (Exception e) {
                failure = e.toString();
            } finally {
                if (!counted) {
                    ready.countDown();
                }
            }
        }

        private void sample(long cycle) {
            if (count < SAMPLES) {
                if (count == samples.length) {
                    samples = Arrays.copyOf(samples, 2 * count);
                }
                samples[count] = cycle;
            }
            count++;
        }

        java.util.stream.LongStream samples() {
            return Arrays.stream(samples, 0, Math.min(count, samples.length));
        }
    }
}
