// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.versions;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;

/** Makes a save take a while, between the reading and the writing, so that two people can meet there. Thread-safe. */
@Component
public class Slowness {

    private final Duration duration;
    private final AtomicInteger pausing = new AtomicInteger();

    Slowness(@Value("${shop.slowness:4s}") Duration duration) {
        this.duration = duration;
    }

    /** How many saves pause now, between reading and writing. */
    public int pausing() {
        return pausing.get();
    }

    void pauseIf(boolean slowly) {
        if (slowly) {
            pausing.incrementAndGet();
            try {
                Thread.sleep(duration.toMillis());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("Interrupted while saving", e);
            } finally {
                pausing.decrementAndGet();
            }
        }
    }
}
