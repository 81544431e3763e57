// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.AlreadyLockedException;
import io.bitjang.LockId;
import java.time.Duration;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

/** Offline locks, as an edit screen uses them. */
public abstract class LockManagerContract extends OnLocks {

    @Test
    void a_held_lock_is_refused_and_says_who_since_when_and_until_when() {
        locks.manager().tryLock("order", name("42"), "kim", Duration.ofMinutes(1), "edits the address");

        assertThatThrownBy(() -> other.manager().tryLock("order", name("42"), "lee"))
                .asInstanceOf(InstanceOfAssertFactories.type(AlreadyLockedException.class))
                .satisfies(refusal -> assertThat(refusal.holder()).hasValueSatisfying(holder -> {
                    assertThat(holder.owner()).isEqualTo("kim");
                    assertThat(holder.note()).isEqualTo("edits the address");
                    assertThat(holder.acquiredAt()).isBefore(holder.expiresAt());
                    assertThat(holder.remaining()).isBetween(Duration.ofSeconds(50), Duration.ofMinutes(1));
                }));
    }

    @Test
    void a_released_lock_is_taken_again_at_once() {
        LockId first = locks.manager().tryLock("order", name("42"));
        locks.manager().releaseLock(first);

        LockId second = other.manager().tryLock("order", name("42"));

        assertThat(second.fence()).isGreaterThan(first.fence());
    }
}
