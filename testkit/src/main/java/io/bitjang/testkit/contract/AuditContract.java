// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Lease;
import io.bitjang.LockData;
import io.bitjang.LockId;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.admin.AuditEntry;
import io.bitjang.admin.AuditEntry.Kind;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Who lost a lock, to whom and why: written down if so set. */
public abstract class AuditContract extends OnOwnTables {

    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Duration MOMENT = Duration.ofMillis(1);

    private Locks audited;

    /** For the databases. */
    @SuppressWarnings("NullAway.Init")
    protected AuditContract() {}

    @BeforeEach
    final void openAudited() {
        audited = closing(builder().owner("audited").audit(true).build());
    }

    @Test
    void a_forced_release_says_from_whom_by_whom_and_why() {
        LockId id = locks.manager().tryLock("order", "42", "kim", MINUTE);
        Instant before = acquiredAt(id.name());

        audited.admin().forceRelease(id.name(), id.fence(), "ops", "the browser is gone: 빗장");

        assertThat(other.admin().audit(10)).singleElement().satisfies(entry -> {
            assertThat(entry.kind()).isEqualTo(Kind.FORCE_RELEASED);
            assertThat(entry.name()).isEqualTo(id.name());
            assertThat(entry.fence()).isEqualTo(id.fence());
            assertThat(entry.from()).isEqualTo("kim");
            assertThat(entry.by()).isEqualTo("ops");
            assertThat(entry.reason()).isEqualTo("the browser is gone: 빗장");
            assertThat(entry.at()).isBetween(before, before.plus(MINUTE));
        });
    }

    @Test
    void a_take_over_is_written_down_unless_nobody_lost_anything() {
        LockId id = locks.manager().tryLock("order", "42", "kim", MINUTE);

        takeOver(id.name(), "kim", MOMENT, "the page was loaded again");
        assertThat(audited.admin().audit(10)).isEmpty();
        lapse(id.name());
        audited.manager().tryLock("order", "42", "kim", MINUTE);
        assertThat(audited.admin().audit(10)).isEmpty();
        takeOver(id.name(), "lee", MINUTE, "kim went home");

        assertThat(audited.admin().audit(10)).singleElement().satisfies(entry -> {
            assertThat(entry.kind()).isEqualTo(Kind.TAKEN_OVER);
            assertThat(entry.from()).isEqualTo("kim");
            assertThat(entry.by()).isEqualTo("lee");
            assertThat(entry.reason()).isEqualTo("kim went home");
        });
    }

    private void takeOver(LockName name, String owner, Duration duration, String reason) {
        LockData seen = audited.admin().find(name).orElseThrow();
        assertThat(audited.manager().takeOver(seen, owner, duration, null, reason))
                .isPresent();
    }

    @Test
    void a_forced_release_that_did_not_happen_is_not_written_down() {
        LockId id = locks.manager().tryLock("order", "42", "kim", MINUTE);

        assertThat(audited.admin().forceRelease(id.name(), id.fence() + 1, "ops", "why"))
                .isFalse();

        assertThat(audited.admin().audit(10)).isEmpty();
    }

    @Test
    void a_take_over_says_from_whom_and_by_whom() {
        locks.manager().tryLock("order", "42", "kim", MOMENT);
        lapse(LockName.of("order", "42"));

        LockId id = audited.manager().tryLock("order", "42", "lee", MINUTE);

        assertThat(audited.admin().audit(10)).singleElement().satisfies(entry -> {
            assertThat(entry.kind()).isEqualTo(Kind.TAKEN_OVER);
            assertThat(entry.name()).isEqualTo(id.name());
            assertThat(entry.fence()).isEqualTo(id.fence());
            assertThat(entry.from()).isEqualTo("kim");
            assertThat(entry.by()).isEqualTo("lee");
            assertThat(entry.reason()).isNull();
        });
    }

    @Test
    void take_overs_of_leases_and_of_locks_by_owner_are_written_down_too() {
        locks.distLock().tryLock("batch", "node-1", MOMENT);
        lapse(LockName.of("dist", "batch"));
        locks.manager().tryLock("lock", "job", "node-1", MOMENT);
        lapse(LockName.of("job"));

        audited.distLock().tryLock("batch", "node-2", MINUTE);
        assertThat(audited.lease("job").owner("node-2").tryAcquire()).isPresent();

        assertThat(audited.admin().audit(10))
                .hasSize(2)
                .allMatch(entry -> entry.kind() == Kind.TAKEN_OVER
                        && "node-1".equals(entry.from())
                        && "node-2".equals(entry.by()));
    }

    @Test
    void a_group_writes_down_those_that_it_took_over_and_no_others() {
        locks.manager().tryLock("lock", "b", "kim", MOMENT);
        lapse(LockName.of("b"));

        Lease group = audited.leaseAll("a", "b", "c").tryAcquire().orElseThrow();

        assertThat(audited.admin().audit(10)).singleElement().satisfies(entry -> {
            assertThat(entry.kind()).isEqualTo(Kind.TAKEN_OVER);
            assertThat(entry.name()).isEqualTo(LockName.of("b"));
            assertThat(entry.fence()).isEqualTo(group.fence());
            assertThat(entry.from()).isEqualTo("kim");
            assertThat(entry.by()).isEqualTo("audited");
        });
    }

    @Test
    void grants_and_releases_are_not_written_down() {
        for (int i = 0; i < 3; i++) {
            audited.manager().releaseLock(audited.manager().tryLock("order", "42"));
            audited.lease("job").tryAcquire().orElseThrow().close();
            audited.leaseAll("a", "b").tryAcquire().orElseThrow().close();
        }

        assertThat(audited.admin().audit(10)).isEmpty();
    }

    @Test
    void the_newest_come_first() {
        for (int i = 0; i < 5; i++) {
            LockId id = locks.manager().tryLock("order", "n" + i, "kim", MINUTE);
            audited.admin().forceRelease(id.name(), id.fence(), "ops", "reason " + i);
        }

        assertThat(audited.admin().audit(3))
                .map(AuditEntry::reason)
                .containsExactly("reason 4", "reason 3", "reason 2");
        assertThat(audited.admin().audit(1000)).hasSize(5);
    }

    @Test
    void the_longest_names_and_reasons_fit() {
        String longest = "😀".repeat(255);
        LockId id = locks.manager().tryLock(longest, longest, longest, MINUTE, "😀".repeat(1000));

        assertThat(audited.admin().forceRelease(id.name(), id.fence(), longest, "😀".repeat(700)))
                .isTrue();

        assertThat(audited.admin().audit(10)).singleElement().satisfies(entry -> {
            assertThat(entry.from()).isEqualTo(longest);
            assertThat(entry.by()).isEqualTo(longest);
            assertThat(entry.reason()).isEqualTo("😀".repeat(700));
        });
    }

    @Test
    void nothing_is_written_down_unless_it_is_switched_on() {
        LockId id = locks.manager().tryLock("order", "42", "kim", MOMENT);
        lapse(id.name());
        LockId next = locks.manager().tryLock("order", "42", "lee", MINUTE);

        assertThat(locks.admin().forceRelease(next.name(), next.fence(), "ops", "why"))
                .isTrue();

        assertThat(locks.admin().audit(10)).isEmpty();
        assertThat(audited.admin().audit(10)).isEmpty();
    }

    private void lapse(LockName name) {
        Soon.holds("it lapsed", () -> locks.admin().find(name).orElseThrow().isExpired());
    }

    private Instant acquiredAt(LockName name) {
        return Objects.requireNonNull(locks.admin().find(name).orElseThrow().acquiredAt());
    }
}
