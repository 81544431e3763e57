// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Lease;
import io.bitjang.LockData;
import io.bitjang.LockId;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.admin.LockFilter;
import io.bitjang.spi.LockEvent;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Rows that nobody has used for long are removed, and nobody notices. */
public abstract class SweepContract extends OnOwnTables {

    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);

    /** For the databases. */
    protected SweepContract() {}

    @Test
    void what_was_free_for_long_goes_and_what_was_freed_lately_stays() {
        release(take("old"));
        release(take("older"));
        age(Duration.ofHours(2));
        release(take("new"));

        assertThat(other.admin().sweep(HOUR)).isEqualTo(2);

        assertThat(ids()).containsExactly("new");
        assertThat(other.admin().sweep(HOUR)).isZero();
    }

    @Test
    void the_idle_time_is_the_callers() {
        release(take("old"));
        age(Duration.ofHours(2));

        assertThat(other.admin().sweep(Duration.ofHours(3))).isZero();
        assertThat(other.admin().sweep(Duration.ofMinutes(119))).isEqualTo(1);
    }

    @Test
    void what_is_held_stays_however_long_ago_it_was_taken() {
        LockId held = take("held");
        Lease lease = locks.lease("job").tryAcquire().orElseThrow();
        update("UPDATE " + table("locks") + " SET acquired_at = acquired_at - ?", micros(Duration.ofDays(30)));

        assertThat(other.admin().sweep(HOUR)).isZero();

        assertThat(locks.manager().checkLock(held).held()).isTrue();
        lease.renew();
    }

    @Test
    void what_lapsed_long_ago_goes_too() {
        take("lapsed");
        take("lapsed-lately");
        assertThat(locks.leaseAll("a", "b").tryAcquire()).isPresent();
        locks.close();
        age(Duration.ofHours(2));
        update(
                "UPDATE " + table("locks") + " SET expires_at = expires_at + ? WHERE id = 'lapsed-lately'",
                micros(Duration.ofMinutes(90)));

        assertThat(other.admin().sweep(HOUR)).isEqualTo(3);

        assertThat(ids()).containsExactly("lapsed-lately");
    }

    @Test
    void many_rows_go_in_one_sweep() {
        locks.leaseAll(IntStream.range(0, 450)
                        .mapToObj(i -> LockName.of("n" + i))
                        .toList())
                .tryAcquire()
                .orElseThrow()
                .close();
        age(Duration.ofHours(2));

        assertThat(other.admin().sweep(HOUR)).isEqualTo(450);

        assertThat(other.admin().counts().total()).isZero();
    }

    @Test
    void the_fence_still_grows_after_a_sweep() {
        LockId before = take("x");
        release(before);
        Lease both = locks.leaseAll("a", "b").tryAcquire().orElseThrow();
        both.close();
        age(Duration.ofHours(2));
        assertThat(locks.admin().sweep(HOUR)).isEqualTo(3);

        assertThat(take("x").fence()).isGreaterThan(before.fence());
        assertThat(other.leaseAll("a", "b").tryAcquire().orElseThrow().fence()).isGreaterThan(both.fence());
    }

    @Test
    void a_swept_name_is_taken_at_once_in_every_way_by_a_node_that_had_used_it() {
        for (int round = 0; round < 2; round++) {
            Locks sweeper = round == 0 ? other : locks;
            release(take("offline"));
            assertThat(locks.distLock().tryLock("batch", "kim", MINUTE)).isTrue();
            locks.distLock().unlock("batch", "kim");
            locks.lease("job").tryAcquire().orElseThrow().close();
            locks.leaseAll("a", "b", "c").tryAcquire().orElseThrow().close();
            age(Duration.ofHours(2));
            // one of three is left, so that the next leaseAll finds some rows and misses others
            locks.lease("b").tryAcquire().orElseThrow().close();
            assertThat(sweeper.admin().sweep(HOUR)).isEqualTo(5);
        }

        release(take("offline"));
        assertThat(locks.distLock().tryLock("batch", "kim", MINUTE)).isTrue();
        assertThat(locks.lease("job").tryAcquire()).isPresent();
        assertThat(locks.leaseAll("a", "b", "c").tryAcquire()).isPresent();
    }

    @Test
    void each_row_is_told_to_the_listener() {
        Queue<LockEvent> told = new ConcurrentLinkedQueue<>();
        Locks node = closing(builder().listener(told::add).build());
        LockId id = take("old");
        release(id);
        age(Duration.ofHours(2));

        node.admin().sweep(HOUR);

        assertThat(told).singleElement().satisfies(event -> {
            assertThat(event.kind()).isEqualTo(LockEvent.Kind.SWEPT);
            assertThat(event.name()).isEqualTo(id.name());
            assertThat(event.fence()).isEqualTo(id.fence());
        });
    }

    private LockId take(String id) {
        return locks.manager().tryLock("swept", id, "kim", MINUTE);
    }

    private void release(LockId id) {
        locks.manager().releaseLock(id);
    }

    /** All that the table knows happened so much earlier. */
    private void age(Duration by) {
        long micros = micros(by);
        update(
                "UPDATE " + table("locks") + " SET expires_at = expires_at - ?, acquired_at = acquired_at - ?",
                micros,
                micros);
    }

    private static long micros(Duration duration) {
        return TimeUnit.MILLISECONDS.toMicros(duration.toMillis());
    }

    private List<String> ids() {
        return other.admin().list(LockFilter.all()).stream().map(LockData::id).toList();
    }
}
