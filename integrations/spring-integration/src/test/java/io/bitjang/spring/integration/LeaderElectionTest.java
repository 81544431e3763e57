// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Locks;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.leader.event.AbstractLeaderEvent;
import org.springframework.integration.leader.event.DefaultLeaderEventPublisher;
import org.springframework.integration.leader.event.OnGrantedEvent;
import org.springframework.integration.leader.event.OnRevokedEvent;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;
import org.springframework.integration.support.locks.LockRegistry;

/** Spring Integration elects a leader through the registry. */
class LeaderElectionTest extends OnRegistry {

    /** Long enough to be kept by a leader that stands still for seconds. */
    private static final Duration TTL = Duration.ofSeconds(6);

    private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
    private LockRegistryLeaderInitiator one;
    private LockRegistryLeaderInitiator two;

    @AfterEach
    void stopBoth() {
        one.stop();
        two.stop();
    }

    @Test
    void other_candidate_leads_when_the_leader_stops() throws Exception {
        firstLeads();

        one.stop();

        assertThat(nextEvents()).containsExactlyInAnyOrder("one revoked", "two granted");
        assertThat(two.getContext().isLeader()).isTrue();
        assertThat(one.getContext().isLeader()).isFalse();
    }

    @Test
    void leader_whose_lock_is_taken_away_is_revoked_and_the_other_leads() throws Exception {
        firstLeads();

        takeAway();

        assertThat(nextEvents()).containsExactlyInAnyOrder("one revoked", "two granted");
        assertThat(two.getContext().isLeader()).isTrue();
        assertThat(one.getContext().isLeader()).isFalse();
    }

    @Test
    void leader_that_can_not_reach_the_database_is_revoked_before_the_other_leads() throws Exception {
        firstLeads();

        source.fails();

        assertThat(nextEvents()).containsExactly("one revoked", "two granted");
    }

    @Test
    void leader_that_yields_is_followed_by_the_other() throws Exception {
        firstLeads();
        one.setBusyWaitMillis(5_000);

        one.getContext().yield();

        assertThat(nextEvents()).containsExactlyInAnyOrder("one revoked", "two granted");
    }

    @Test
    void leadership_is_renewed_in_the_background() throws Exception {
        firstLeads();
        Instant first = row().expiresAt();
        long fence = row().fence();

        until(() -> row().expiresAt().isAfter(first));

        assertThat(row().fence()).isEqualTo(fence);
        assertThat(events).isEmpty();
    }

    private void firstLeads() throws Exception {
        one = candidate("one", locks);
        two = candidate("two", otherLocks);
        one.start();
        assertThat(nextEvent()).isEqualTo("one granted");
        two.start();
        assertThat(one.getContext().isLeader()).isTrue();
        assertThat(two.getContext().isLeader()).isFalse();
    }

    private String nextEvent() throws InterruptedException {
        String event = events.poll(60, TimeUnit.SECONDS);
        assertThat(event).as("an event").isNotNull();
        return event;
    }

    private String[] nextEvents() throws InterruptedException {
        return new String[] {nextEvent(), nextEvent()};
    }

    private LockRegistryLeaderInitiator candidate(String id, Locks nodesLocks) {
        LockRegistry<?> nodesRegistry = new BitjangLockRegistry(nodesLocks, BitjangLockRegistry.TYPE, TTL);
        LockRegistryLeaderInitiator initiator =
                new LockRegistryLeaderInitiator(nodesRegistry, new DefaultCandidate(id, key));
        initiator.setHeartBeatMillis(100);
        initiator.setLeaderEventPublisher(new DefaultLeaderEventPublisher(event -> {
            if (event instanceof OnGrantedEvent) {
                events.add(id + " granted");
            } else if (event instanceof OnRevokedEvent) {
                events.add(id + " revoked");
            } else {
                assertThat(event).isInstanceOf(AbstractLeaderEvent.class);
            }
        }));
        return initiator;
    }
}
