// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.internal;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.LockName;
import io.bitjang.Wait;
import io.bitjang.spring.Locked.Kind;
import io.bitjang.spring.OnSpring;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A lock that is taken inside a transaction is worth a warning, but not one per call. */
class WarningTest extends OnSpring {

    @Test
    void lock_inside_a_transaction_is_warned_of_once_per_method() {
        List<String> warnings = new ArrayList<>();
        LockScopes scopes = new LockScopes(() -> locks, () -> new SpringTransactions(pool), () -> null, warnings::add);

        for (int i = 0; i < 3; i++) {
            LockName one = LockName.of("one " + account + " " + i);
            scopes.call(LockRequest.of(one, Kind.LEASE, Wait.none()), "Orders.ship", () -> true);
            assertThat(warnings).hasSize(i == 0 ? 0 : 2);
            transaction().executeWithoutResult(tx -> {
                scopes.call(LockRequest.of(one, Kind.LEASE, Wait.none()), "Orders.ship", () -> true);
                scopes.call(LockRequest.of(one, Kind.SESSION, Wait.none()), "Orders.pack", () -> true);
            });
        }

        assertThat(warnings).hasSize(2);
        assertThat(warnings.get(0)).contains("Orders.ship", "inside a transaction", "Take the lock first");
        assertThat(warnings.get(1)).contains("Orders.pack");
    }
}
