// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.bitjang.AlreadyLockedException;
import io.bitjang.Lease;
import io.bitjang.LockData;
import io.bitjang.LockId;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.NoLockException;
import io.bitjang.SessionLock;
import io.bitjang.Wait;
import io.bitjang.admin.LockCounts;
import io.bitjang.admin.LockFilter;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/**
 * Every operation once, with exact answers: on two nodes under a setting, and beside a third that has the ordinary one and must agree
 * with them. Not thread-safe.
 */
final class HostileBattery {

    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Duration HOUR = Duration.ofHours(1);

    /** What a driver's escaping, a character set or a collation may mistake for something else. */
    private static final List<String> TEXTS = List.of(
            "a", "A", "a ", "á", "é", "e\u0301", "\\", "\\\\", "it's", "''", "\"q\"", "?", "%", "日本", "😀", "😁",
            "\u0001");

    /** One of the operations. */
    private interface Step {
        void run() throws Exception;
    }

    private final List<String> flaws = new ArrayList<>();
    private final Locks one;
    private final Locks two;
    private final Locks honest;
    private final HostileRenewals renewals;
    private final HostileTransactions transactions;
    private final DataSource plain;
    private final String table;

    HostileBattery(List<Locks> nodes, DataSource hostile, DataSource plain, String table) {
        this.one = nodes.get(0);
        this.two = nodes.get(1);
        this.honest = nodes.get(2);
        this.renewals = new HostileRenewals(one, honest);
        this.transactions = new HostileTransactions(nodes, hostile, this);
        this.plain = plain;
        this.table = table;
    }

    /** What was not as promised. */
    List<String> run() {
        step("leases that are to be renewed", renewals::begin);
        step("take, refuse, free, take again", this::takeAndFree);
        step("a lock that ran out is taken over", this::expire);
        step("expiry: renew, extend, leave", this::expiry);
        step("a clock that all share", this::clock);
        step("re-enter by owner", this::reenter);
        step("lease: renew, ensure, hand over", this::lease);
        step("wait for another node", this::waiting);
        step("several at once", this::several);
        step("guard", transactions::guard);
        step("guard of a lock that is gone", transactions::lateGuard);
        step("release with the caller's transaction", transactions::releaseWithCaller);
        step("take over and force", this::force);
        step("names are exact", this::names);
        step("session lock", this::session);
        step("list, count and sweep", this::list);
        step("renewal of many", renewals::end);
        return flaws;
    }

    private void step(String name, Step step) {
        long began = System.nanoTime();
        try {
            step.run();
        } catch (Exception | AssertionError e) {
            flaws.add(name + ": " + e);
        }
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began);
        if (seconds >= 20) {
            flaws.add(name + ": took " + seconds + " s");
        }
    }

    private void takeAndFree() {
        long fence = 0;
        // each frees, the others take: by the cheap statement and by the others
        for (Locks holder : List.of(one, one, two, honest, one, honest, two)) {
            LockId id = holder.manager().tryLock("take", "x", "kim", MINUTE, "note");
            assertThat(id.fence()).isGreaterThan(fence);
            fence = id.fence();
            for (Locks each : List.of(one, two, honest)) {
                assertHeld(each, "take", "x");
                LockData data = each.manager().checkLock(id);
                assertThat(data.owner()).isEqualTo("kim");
                assertThat(data.fence()).isEqualTo(fence);
                assertThat(data.note()).isEqualTo("note");
                assertThat(data.remaining()).isBetween(Duration.ofSeconds(1), MINUTE);
            }
            holder.manager().releaseLock(id);
            assertGone(() -> one.manager().checkLock(id));
            assertGone(() -> two.manager().releaseLock(id));
        }
    }

    static void assertGone(ThrowingCallable use) {
        assertThatExceptionOfType(NoLockException.class).isThrownBy(use);
    }

    static void assertHeld(Locks node, String type, String id) {
        assertThatExceptionOfType(AlreadyLockedException.class)
                .isThrownBy(() -> node.manager().tryLock(type, id, "lee", MINUTE));
    }

    private void expire() throws SQLException {
        for (Locks next : List.of(two, honest, one)) {
            LockId id = one.manager().tryLock("expire", "x", "kim", MINUTE);
            past(id.name());
            assertGone(() -> two.manager().checkLock(id));
            LockId taken = next.manager().tryLock("expire", "x", "lee", MINUTE);
            assertThat(taken.fence()).isGreaterThan(id.fence());
            assertHeld(one, "expire", "x");
            assertHeld(two, "expire", "x");
            assertGone(() -> one.manager().renew(id, MINUTE));
            assertGone(() -> one.manager().releaseLock(id));
            assertThat(honest.manager().checkLock(taken).owner()).isEqualTo("lee");
            next.manager().releaseLock(taken);
        }
    }

    private void expiry() {
        LockId id = one.manager().tryLock("expiry", "x", "kim", MINUTE);
        Instant first = one.manager().renew(id, MINUTE);
        assertThat(two.manager().renew(id, Duration.ofSeconds(1)))
                .as("never shorter")
                .isEqualTo(first);
        assertThat(one.manager().extendLockExpiration(id, MINUTE)).isEqualTo(first.plus(MINUTE));
        Instant left = two.manager().leave(id, MINUTE);
        assertThat(left).isBefore(first.plus(MINUTE));
        assertThat(one.manager().leave(id, HOUR)).as("never longer").isEqualTo(left);
        assertThat(honest.manager().checkLock(id).expiresAt()).isEqualTo(left);
        honest.manager().releaseLock(id);
    }

    /** What one has taken lasts as long for everybody. */
    private void clock() throws SQLException {
        LockId here = one.manager().tryLock("clock", "here", "kim", MINUTE);
        LockId there = honest.manager().tryLock("clock", "there", "kim", MINUTE);
        assertThat(states("clock")).containsExactly("held", "held");
        for (Locks each : List.of(one, two, honest)) {
            assertThat(each.manager().checkLock(here).remaining()).isBetween(Duration.ofSeconds(1), MINUTE);
            assertThat(each.manager().checkLock(there).remaining()).isBetween(Duration.ofSeconds(1), MINUTE);
            assertHeld(each, "clock", "here");
            assertHeld(each, "clock", "there");
        }
        one.manager().releaseLock(there);
        honest.manager().releaseLock(here);
    }

    /** As the view shows them, which was made under the setting, too. */
    private List<String> states(String type) throws SQLException {
        try (Connection connection = plain.getConnection();
                PreparedStatement statement =
                        connection.prepareStatement("SELECT state FROM " + table + "_view WHERE type = ?")) {
            statement.setString(1, type);
            List<String> states = new ArrayList<>();
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    states.add(rows.getString(1));
                }
            }
            return states;
        }
    }

    private void reenter() throws SQLException {
        assertThat(one.distLock().tryLock("again", "kim", HOUR)).isTrue();
        long fence = fence(LockName.of("dist", "again"));
        assertThat(one.distLock().tryLock("again", "kim", MINUTE)).isTrue();
        assertThat(one.distLock().tryLock("again", "kim", HOUR.plus(HOUR))).isTrue();
        // the row stays as it is, which a driver may count as no row at all
        assertThat(one.distLock().tryLock("again", "kim", MINUTE)).isTrue();
        assertThat(fence(LockName.of("dist", "again"))).isEqualTo(fence);
        assertThat(two.distLock().tryLock("again", "lee", MINUTE)).isFalse();
        assertThat(honest.distLock().tryLock("again", "lee", MINUTE)).isFalse();
        assertThat(honest.admin()
                        .find(LockName.of("dist", "again"))
                        .orElseThrow()
                        .remaining())
                .isGreaterThan(HOUR);
        past(LockName.of("dist", "again"));
        past(LockName.of("dist", "again"));
        assertThat(two.distLock().tryLock("again", "lee", MINUTE)).isTrue();
        assertThat(one.distLock().tryLock("again", "kim", MINUTE)).isFalse();
        two.distLock().unlock("again", "lee");
        assertThat(one.distLock().tryLock("again", "kim", MINUTE)).isTrue();
        assertThat(two.distLock().tryLock("again", "lee", MINUTE)).isFalse();
    }

    private void lease() throws Exception {
        Lease held = one.lease("lease").tryAcquire().orElseThrow();
        assertThat(two.lease("lease").tryAcquire()).isEmpty();
        assertThat(honest.lease("lease").tryAcquire()).isEmpty();
        held.renew();
        held.ensure(Duration.ofSeconds(29));
        CompletableFuture<Lease> next =
                one.lease("lease").acquireAsync(Wait.upTo(MINUTE)).toCompletableFuture();
        long fence = held.fence();
        held.close();
        try (Lease handed = next.get(1, TimeUnit.MINUTES)) {
            assertThat(handed.fence()).isGreaterThan(fence);
            assertThat(two.lease("lease").tryAcquire()).isEmpty();
            assertThat(honest.lease("lease").tryAcquire()).isEmpty();
        }
        for (Locks each : List.of(two, honest, one)) {
            assertThat(each.lease("lease")
                            .tryRun(() ->
                                    assertThat(two.lease("lease").tryAcquire()).isEmpty()))
                    .isTrue();
        }
    }

    private void waiting() throws Exception {
        Lease held = two.lease("wait").tryAcquire().orElseThrow();
        CompletableFuture<Lease> next =
                one.lease("wait").acquireAsync(Wait.upTo(MINUTE)).toCompletableFuture();
        Soon.holds(
                "it is known that someone waits",
                () -> honest.admin().find(LockName.of("wait")).orElseThrow().wanted());
        held.close();
        next.get(1, TimeUnit.MINUTES).close();
    }

    private void several() throws SQLException {
        for (int round = 0; round < 2; round++) {
            try (Lease all = one.leaseAll("s1", "s2", "s3").tryAcquire().orElseThrow()) {
                all.renew();
                assertThat(all.isHeld()).isTrue();
                assertThat(two.leaseAll("s3", "s4").tryAcquire()).isEmpty();
                assertThat(honest.lease("s2").tryAcquire()).isEmpty();
                for (String name : List.of("s1", "s2", "s3")) {
                    assertThat(fence(LockName.of(name))).as(name).isEqualTo(all.fence());
                }
            }
            try (Lease other = two.leaseAll("s3", "s4").tryAcquire().orElseThrow();
                    Lease single = honest.lease("s1").tryAcquire().orElseThrow()) {
                assertThat(one.leaseAll("s1", "s2").tryAcquire()).isEmpty();
                assertThat(other.fence()).isNotEqualTo(single.fence());
            }
        }
        Lease lapsed = honest.lease("s1").tryAcquire().orElseThrow();
        past(lapsed.name());
        try (Lease all = two.leaseAll("s1", "s2", "s5").tryAcquire().orElseThrow()) {
            assertThat(all.fence()).isGreaterThan(lapsed.fence());
            assertThat(one.lease("s1").tryAcquire()).isEmpty();
        }
        assertGone(lapsed::renew);
    }

    private void force() {
        LockId id = one.manager().tryLock("force", "x", "kim", MINUTE);
        LockData seen = two.admin().find(id.name()).orElseThrow();
        LockId taken = two.manager().takeOver(seen, "lee", MINUTE, null, "why").orElseThrow();
        assertThat(one.manager().takeOver(seen, "max", MINUTE, null, "why")).isEmpty();
        assertGone(() -> one.manager().checkLock(id));
        assertHeld(one, "force", "x");
        assertThat(one.admin().forceRelease(id.name(), id.fence(), "ops", "why"))
                .isFalse();
        assertThat(one.admin().forceRelease(id.name(), taken.fence(), "ops", "why"))
                .isTrue();
        assertGone(() -> two.manager().checkLock(taken));
        LockId next = honest.manager().tryLock("force", "x", "kim", MINUTE);
        assertThat(next.fence()).isGreaterThan(taken.fence());
        two.manager().releaseLock(next);
        assertThat(two.admin().audit(10)).hasSizeGreaterThanOrEqualTo(2);
    }

    private void names() {
        List<LockName> names =
                TEXTS.stream().map(text -> LockName.of(text, text)).toList();
        List<LockId> held = names.stream()
                .map(name -> one.manager().tryLock(name.type(), name.id(), name.id(), MINUTE, name.id()))
                .toList();
        for (LockName name : names) {
            LockData data = honest.admin().find(name).orElseThrow();
            assertThat(data.name()).isEqualTo(name);
            assertThat(data.owner()).isEqualTo(name.id());
            assertThat(data.note()).isEqualTo(name.id());
            assertHeld(two, name.type(), name.id());
            assertHeld(honest, name.type(), name.id());
        }
        held.forEach(id -> two.manager().releaseLock(id));
        try (Lease all = two.leaseAll(names).tryAcquire().orElseThrow()) {
            all.renew();
            assertThat(names).allMatch(name -> one.lease(name).tryAcquire().isEmpty());
            assertThat(names).allMatch(name -> honest.lease(name).tryAcquire().isEmpty());
            assertThat(one.admin().list(LockFilter.held().ownedBy("nobody"))).isEmpty();
        }
        assertThat(one.admin().list(LockFilter.all().ofType("it's")))
                .extracting(LockData::name)
                .containsExactly(LockName.of("it's", "it's"));
        assertThat(one.admin().list(LockFilter.all().ofType("A"))).hasSize(1);
    }

    private void session() {
        for (Locks each : List.of(one, two, honest)) {
            try (SessionLock.Hold hold = each.session("session").tryAcquire().orElseThrow()) {
                assertThat(hold.isHeld()).isTrue();
                for (Locks other : List.of(one, two, honest)) {
                    assertThat(other.session("session").tryAcquire()).isEmpty();
                }
            }
        }
    }

    private void list() throws SQLException {
        for (int i = 0; i < 5; i++) {
            one.manager().releaseLock(one.manager().tryLock("list", "i" + i, "kim", MINUTE));
        }
        LockId held = two.manager().tryLock("list", "i9", "kim", MINUTE);
        LockFilter filter = LockFilter.all().ofType("list");
        for (Locks each : List.of(one, honest)) {
            assertThat(each.admin().list(filter))
                    .extracting(data -> data.name().id())
                    .containsExactly("i0", "i1", "i2", "i3", "i4", "i9");
            assertThat(each.admin().list(filter.limit(2).after(LockName.of("list", "i1"))))
                    .extracting(data -> data.name().id())
                    .containsExactly("i2", "i3");
            assertThat(each.admin().list(filter.in(LockFilter.State.HELD))).hasSize(1);
            assertThat(each.admin().list(filter.idContaining("9"))).hasSize(1);
        }
        assertThat(rows(one.admin().counts())).isEqualTo(rows(honest.admin().counts()));
        for (int i = 0; i < 5; i++) {
            past(LockName.of("list", "i" + i));
        }
        assertThat(two.admin().sweep(HOUR)).isGreaterThanOrEqualTo(5);
        assertThat(honest.admin().list(filter)).hasSize(1);
        assertThat(honest.manager().checkLock(held).held()).isTrue();
        one.manager().releaseLock(held);
    }

    private static long rows(LockCounts counts) {
        return counts.held() + counts.expired() + counts.free();
    }

    private long fence(LockName name) {
        return honest.admin().find(name).orElseThrow().fence();
    }

    /** As if two hours had passed since it was taken. */
    void past(LockName name) throws SQLException {
        try (Connection connection = plain.getConnection();
                PreparedStatement statement = connection.prepareStatement("UPDATE " + table
                        + " SET expires_at = expires_at - 7200000000, acquired_at = acquired_at - 7200000000"
                        + " WHERE type = ? AND id = ?")) {
            statement.setString(1, name.type());
            statement.setString(2, name.id());
            assertThat(statement.executeUpdate()).isEqualTo(1);
        }
    }
}
