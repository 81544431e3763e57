// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Lease;
import io.bitjang.LockData;
import io.bitjang.LockName;
import io.bitjang.Locks;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Leases that are renewed together while the rest of the battery runs. Not thread-safe. */
final class HostileRenewals {

    private static final Duration SHORT = Duration.ofMillis(1200);

    private final Map<String, Lease> leases = new HashMap<>();
    private final Map<String, Instant> began = new HashMap<>();
    private final Locks node;
    private final Locks honest;

    HostileRenewals(Locks node, Locks honest) {
        this.node = node;
        this.honest = honest;
    }

    /** One of them is lost, so that the rows of all are looked at. */
    void begin() {
        List.of("r1", "r'2", "r3").forEach(this::take);
        LockName taken = LockName.of("r3");
        assertThat(honest.admin().forceRelease(taken, find("r3").fence(), "ops", "why"))
                .isTrue();
    }

    private void take(String name) {
        leases.put(name, node.lease(name).lasting(SHORT).tryAcquire().orElseThrow());
        began.put(name, expiry(name));
    }

    void end() {
        Soon.holds("the leases are renewed", () -> Stream.of("r1", "r'2").allMatch(this::isRenewed));
        Soon.holds("the loss is noticed", () -> !lease("r3").isHeld());
        leases.remove("r3");
        leases.values().forEach(Lease::close);
    }

    /** On a machine that has no time for a renewal a lease runs out, which is not a flaw: then it is taken anew. */
    private boolean isRenewed(String name) {
        if (lease(name).state() == Lease.State.LOST) {
            assertThat(lease(name).lostBecause().orElseThrow()).doesNotContain("gone");
            // not before it is over in the database, too
            node.lease(name).lasting(SHORT).tryAcquire().ifPresent(anew -> {
                leases.put(name, anew);
                began.put(name, expiry(name));
            });
            return false;
        }
        @Nullable Instant expiry = find(name).expiresAt();
        return expiry != null && expiry.isAfter(Objects.requireNonNull(began.get(name)));
    }

    private Lease lease(String name) {
        return Objects.requireNonNull(leases.get(name));
    }

    private Instant expiry(String name) {
        // it may be over already, and given back
        return Objects.requireNonNullElse(find(name).expiresAt(), Instant.EPOCH);
    }

    private LockData find(String name) {
        return honest.admin().find(LockName.of(name)).orElseThrow();
    }
}
