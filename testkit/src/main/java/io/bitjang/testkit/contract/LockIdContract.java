// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.bitjang.Lease;
import io.bitjang.LockData;
import io.bitjang.LockException;
import io.bitjang.LockId;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.NoLockException;
import io.bitjang.admin.LockFilter;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A lock id is the whole right to a lock: it travels as text, is told to nobody, and can't be made up. */
public abstract class LockIdContract extends OnOwnTables {

    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final LockName ORDER = LockName.of("order", "42");

    /** For the databases. */
    protected LockIdContract() {}

    @Test
    void its_text_works_on_every_node() {
        LockId taken = locks.manager().tryLock("order", "42", "kim", MINUTE);

        LockId back = new LockId(taken.value());

        assertThat(back).isEqualTo(taken).hasSameHashCodeAs(taken);
        assertThat(back.name()).isEqualTo(ORDER);
        assertThat(back.fence()).isEqualTo(taken.fence());
        assertThat(other.manager().checkLock(back).owner()).isEqualTo("kim");
        assertThatNoException().isThrownBy(() -> {
            other.manager().extendLockExpiration(back, MINUTE);
            other.manager().renew(back, MINUTE);
            other.manager().leave(back, MINUTE);
            other.manager().releaseLock(back);
        });
    }

    @Test
    void its_text_can_stand_in_a_form_and_an_address_as_it_is() {
        LockId taken = locks.manager().tryLock("tür/名前", "a b&c=\"d\"<é>+😀", "kim", MINUTE);

        assertThat(taken.value()).matches("[A-Za-z0-9_-]+");
        assertThat(new LockId(taken.value()).name()).isEqualTo(LockName.of("tür/名前", "a b&c=\"d\"<é>+😀"));
    }

    @Test
    void two_grants_have_different_ids() {
        LockId first = locks.manager().tryLock("order", "42");
        locks.manager().releaseLock(first);
        LockId second = locks.manager().tryLock("order", "42");

        assertThat(second).isNotEqualTo(first);
        assertThat(second.value()).isNotEqualTo(first.value());
    }

    @Test
    void it_is_told_to_nobody() throws Exception {
        List<Object> told = Collections.synchronizedList(new ArrayList<>());
        Locks node = closing(builder().owner("one").listener(told::add).build());
        LockId id = node.manager().tryLock("order", "42", "kim", MINUTE, "a note");
        String secret = read("SELECT lock_id FROM " + table("locks") + " WHERE id = '42'");
        told.add(id);
        told.add(node.manager().checkLock(id));
        told.add(other.admin().find(ORDER));
        told.addAll(other.admin().list(LockFilter.all()));
        told.add(catchThrowable(() -> node.manager().tryLock("order", "42", "lee")));
        node.manager().extendLockExpiration(id, MINUTE);
        Connection connection = transaction();
        told.add(node.manager().checkLock(connection, id));
        connection.rollback();
        other.admin().forceRelease(ORDER, id.fence(), "ops", "must be free");
        told.add(catchThrowable(() -> node.manager().checkLock(id)));
        told.add(catchThrowable(() -> node.manager().renew(id, MINUTE)));
        told.add(catchThrowable(() -> node.manager().releaseLock(id)));
        told.add(catchThrowable(() -> node.manager().checkLock(connection, id)));
        Lease lease = node.lease("job").tryAcquire().orElseThrow();
        String leaseSecret = read("SELECT lock_id FROM " + table("locks") + " WHERE id = 'job'");
        told.add(lease);
        told.add(node.lease("job"));
        lease.close();

        assertThat(secret).isNotBlank();
        assertThat(leaseSecret).isNotBlank();
        assertThat(told).hasSizeGreaterThan(12).doesNotContainNull();
        assertThat(told)
                .map(LockIdContract::asText)
                .allSatisfy(text -> assertThat(text).doesNotContain(secret, leaseSecret, id.value()));
    }

    @Test
    void its_secret_part_is_all_that_the_table_holds() {
        LockId id = locks.manager().tryLock("order", "42");

        String column = read("SELECT lock_id FROM " + table("locks") + " WHERE id = '42'");

        // 128 bits in base64
        assertThat(column).hasSize(22).isNotEqualTo(id.value());
    }

    @Test
    void what_is_no_lock_id_is_refused_without_repeating_it() {
        for (String text : List.of(
                "x",
                "42",
                "order/42",
                "not base64!",
                "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
                "____________________________________________",
                "é".repeat(60),
                "QUJD".repeat(3000),
                "AQ\u0000A")) {
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> new LockId(text))
                    .withNoCause()
                    .withMessageContaining("no lock id")
                    .satisfies(refusal -> assertThat(
                                    String.valueOf(refusal.getMessage()).replace("lock id", ""))
                            .doesNotContain(" " + text));
        }
        assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> new LockId(""));
    }

    @Test
    void a_text_that_was_cut_off_is_no_lock_id() {
        String text = locks.manager().tryLock("order", "42-of-a-longer-name").value();

        for (int length = 0; length < text.length(); length++) {
            String cut = text.substring(0, length);
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .as("the first %d of %d characters", length, text.length())
                    .isThrownBy(() -> new LockId(cut));
        }
    }

    @Test
    void a_text_with_one_wrong_character_is_no_lock_id() {
        String text = locks.manager().tryLock("order", "42").value();

        for (int i = 0; i < text.length(); i++) {
            char wrong = text.charAt(i) == 'B' ? 'C' : 'B';
            String changed = text.substring(0, i) + wrong + text.substring(i + 1);
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .as("character %d of %d", i, text.length())
                    .isThrownBy(() -> new LockId(changed))
                    .satisfies(refusal -> assertThat(refusal.getMessage()).doesNotContain(changed));
        }
    }

    @Test
    void a_lock_id_with_the_right_name_and_another_secret_opens_nothing() throws Exception {
        LockId real = locks.manager().tryLock("order", "42", "kim", MINUTE);
        LockData before = locks.manager().checkLock(real);
        // made by other tables: same name, other secret
        String forger = "f" + prefix();
        closing(() -> dropTables(forger));
        Locks elsewhere = closing(builder().tablePrefix(forger).build());
        LockId forged = elsewhere.manager().tryLock("order", "42", "mallory", MINUTE);
        Connection connection = transaction();

        for (Runnable attempt : List.<Runnable>of(
                () -> locks.manager().checkLock(forged),
                () -> locks.manager().extendLockExpiration(forged, MINUTE),
                () -> locks.manager().renew(forged, Duration.ofHours(1)),
                () -> locks.manager().leave(forged, Duration.ofMillis(1)),
                () -> locks.manager().releaseLock(forged),
                () -> locks.manager().checkLock(connection, forged),
                () -> locks.manager().releaseLock(connection, forged))) {
            assertThatExceptionOfType(NoLockException.class)
                    .isThrownBy(attempt::run)
                    .satisfies(refusal -> assertThat(refusal.name()).contains(ORDER));
        }
        connection.commit();

        assertThat(forged).isNotEqualTo(real);
        assertThat(locks.manager().checkLock(real))
                .usingRecursiveComparison()
                .ignoringFields("remaining")
                .isEqualTo(before);
    }

    private static String asText(Object told) {
        if (told instanceof LockException failure) {
            StringWriter trace = new StringWriter();
            failure.printStackTrace(new PrintWriter(trace));
            return failure + trace.toString();
        }
        return told.toString();
    }
}
