// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.versions;

import java.time.Duration;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;

/** Makes a save take a while, between the reading and the writing, so that two people can meet there. */
@Component
class Slowness {

    private final Duration duration;

    Slowness(@Value("${shop.slowness:4s}") Duration duration) {
        this.duration = duration;
    }

    void pauseIf(boolean slowly) {
        if (slowly) {
            try {
                Thread.sleep(duration.toMillis());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("Interrupted while saving", e);
            }
        }
    }
}
