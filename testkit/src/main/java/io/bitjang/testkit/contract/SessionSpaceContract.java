// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Locks;
import io.bitjang.SessionLock;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** All who use the same tables share their session locks, however they spell where the tables are; and nobody else does. */
public abstract class SessionSpaceContract extends OnOwnTables {

    /** For the databases. */
    protected SessionSpaceContract() {}

    @Test
    void one_has_the_lock_however_schema_and_prefix_are_spelled() {
        spellings().forEach(spelled -> {
            // each takes connections while it has a lock, and for a while afterwards
            try (Locks node = spelled.build()) {
                try (SessionLock.Hold hold = locks.session("x").tryAcquire().orElseThrow()) {
                    assertThat(hold.isHeld()).isTrue();
                    assertThat(node.session("x").tryAcquire()).isEmpty();
                }
                try (SessionLock.Hold hold = node.session("x").tryAcquire().orElseThrow()) {
                    assertThat(hold.isHeld()).isTrue();
                    assertThat(locks.session("x").tryAcquire()).isEmpty();
                }
            }
        });
    }

    @Test
    void other_tables_have_other_locks() {
        Locks apart = closing(Locks.builder(pool).tablePrefix("o" + prefix()).build());
        try (SessionLock.Hold hold = locks.session("x").tryAcquire().orElseThrow();
                SessionLock.Hold same = apart.session("x").tryAcquire().orElseThrow()) {
            assertThat(hold.isHeld()).isEqualTo(same.isHeld()).isTrue();
        } finally {
            apart.close();
            database.execute("DROP VIEW o" + table("locks_view"));
            List.of("locks", "audit", "schema_version").forEach(each -> database.execute("DROP TABLE o" + table(each)));
        }
    }

    private Stream<Locks.Builder> spellings() {
        return switch (database.name()) {
            case "postgresql", "h2" ->
                Stream.of("public", "PUBLIC", "Public")
                        .flatMap(schema -> Stream.of(
                                builder().schemaName(schema),
                                builder().schemaName(schema).tablePrefix(prefix().toUpperCase(Locale.ROOT)),
                                builder().tablePrefix(prefix().toUpperCase(Locale.ROOT))));
            default -> Stream.of(builder().schemaName(Objects.requireNonNull(read("SELECT DATABASE()"))));
        };
    }
}
