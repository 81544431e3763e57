// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.seeds;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;

/** An application's clock, standing on a full second until it is moved: the seeds' tables know no fractions on MySQL. */
final class SettableClock extends Clock {

    private Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);

    void advance(Duration by) {
        now = now.plus(by);
    }

    @Override
    public Instant instant() {
        return now;
    }

    @Override
    public ZoneId getZone() {
        return ZoneId.systemDefault();
    }

    @Override
    public Clock withZone(ZoneId zone) {
        throw new UnsupportedOperationException();
    }
}
