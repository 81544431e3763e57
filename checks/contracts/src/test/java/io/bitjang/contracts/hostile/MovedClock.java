// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.hostile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.bitjang.LockData;
import io.bitjang.LockId;
import io.bitjang.LockName;
import io.bitjang.LockingFailException;
import io.bitjang.Locks;
import io.bitjang.testkit.contract.OnOwnTables;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** On MySQL and MariaDB a session has a clock of its own after {@code SET timestamp}: no lock is given, kept or removed by it. */
public abstract class MovedClock extends OnOwnTables {

    private static final Duration MINUTE = Duration.ofMinutes(1);

    @ParameterizedTest
    @ValueSource(strings = {"+ 3600", "- 3600", "+ 20", "- 20"})
    void a_session_whose_clock_is_moved_after_start_does_nothing(String shift) throws SQLException {
        List<String> first = new ArrayList<>();
        Locks node = closing(Locks.builder(Rewriting.sessions(database.dataSource(), first))
                .tablePrefix(prefix())
                .build());
        LockId held = other.manager().tryLock("order", "held", "kim", MINUTE);
        LockId old = other.manager().tryLock("order", "old", "kim", MINUTE);
        update("UPDATE " + table("locks") + " SET expires_at = expires_at - 7200000000 WHERE id = 'old'");
        LockData seen = other.admin().find(held.name()).orElseThrow();
        String before = rows();
        first.add("SET timestamp = UNIX_TIMESTAMP() " + shift);

        Map<String, ThrowingCallable> operations = new LinkedHashMap<>();
        operations.put("take what is held", () -> node.manager().tryLock("order", "held", "lee", MINUTE));
        operations.put("take what is free", () -> node.manager().tryLock("order", "new", "lee", MINUTE));
        operations.put("take what ran out", () -> node.manager().tryLock("order", "old", "lee", MINUTE));
        operations.put("lease", () -> node.lease(LockName.of("order", "held")).tryAcquire());
        operations.put(
                "several", () -> node.leaseAll(List.of(held.name(), old.name())).tryAcquire());
        operations.put("several that are new", () -> node.leaseAll("x", "y").tryAcquire());
        operations.put("by owner", () -> node.distLock().tryLock("new", "lee", MINUTE));
        operations.put("check", () -> node.manager().checkLock(held));
        operations.put("check what ran out", () -> node.manager().checkLock(old));
        operations.put("renew", () -> node.manager().renew(held, MINUTE));
        operations.put("extend", () -> node.manager().extendLockExpiration(held, MINUTE));
        operations.put("leave", () -> node.manager().leave(held, Duration.ofSeconds(1)));
        operations.put("release", () -> node.manager().releaseLock(held));
        operations.put("take over", () -> node.manager().takeOver(seen, "lee", MINUTE, null, "why"));
        operations.put("force", () -> node.admin().forceRelease(held.name(), held.fence(), "ops", "why"));
        operations.put("find", () -> node.admin().find(held.name()));
        operations.put("guard", () -> {
            try (Connection connection = database.dataSource().getConnection()) {
                connection.setAutoCommit(false);
                connection.createStatement().execute(first.get(0));
                node.manager().checkLock(connection, held);
            }
        });
        operations.forEach((name, operation) -> assertThatExceptionOfType(LockingFailException.class)
                .as(name)
                .isThrownBy(operation)
                .withMessageContaining("SET timestamp"));
        // with nothing to sweep by this clock it does nothing, otherwise it fails
        assertThat(catchThrowable(() -> node.admin().sweep(Duration.ofHours(1))))
                .satisfiesAnyOf(
                        nothing -> assertThat(nothing).isNull(),
                        failure -> assertThat(failure).isInstanceOf(LockingFailException.class));

        assertThat(rows()).isEqualTo(before);
        first.clear();
        assertThat(node.manager().checkLock(held).owner()).isEqualTo("kim");
    }

    private String rows() {
        return String.valueOf(read("SELECT GROUP_CONCAT(id, lock_id, expires_at ORDER BY id) FROM " + table("locks")));
    }
}
