// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.bitjang.Lease;
import io.bitjang.LockData;
import io.bitjang.LockId;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.NoLockException;
import io.bitjang.Wait;
import io.bitjang.admin.LockFilter;
import io.bitjang.spi.LockEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Names are compared exactly, and any Unicode text is one. */
public abstract class NamesContract extends OnOwnTables {

    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final String EMOJI = "😀".repeat(255);

    /** What some database, collation, driver or escaping somewhere takes for something else. */
    private static final List<String> TEXTS = Stream.of(
                    Stream.of("A", "a", "e", "é", "e\u0301", "É", "x", "x ", "x  ", " x", "x\t", "ß", "ss", "SS"),
                    Stream.of("I", "i", "ı", "İ", "æ", "ae", "Å", "\u212B", "ｘ", "日本語", "にほんご", "ニホンゴ"),
                    Stream.of("'", "''", "it's", "\"", "\"dq\"", "`", "\\", "\\\\", "\\'", "\\n", "\\u0041", "%", "_"),
                    Stream.of("100%_", "?", ":type", "::", "{d '1'}", "--", "/* */", "$1", "$$", "#", ";", "[0]", "{}"),
                    Stream.of(
                            "line\nbreak",
                            "line\r\nbreak",
                            "a\u001fb",
                            "\u001fx",
                            "\u0001",
                            "\u007f",
                            "\u0085",
                            "a\bb",
                            "a\fb"),
                    Stream.of("שלום עולם", "مرحبا", "\u202Emorf", "a\u200Bb", "ab", "\uFEFFab", "\uFFFD", "\uFFFF"),
                    Stream.of(
                            "null",
                            "NULL",
                            "true",
                            "0",
                            "00",
                            "😀",
                            "😁",
                            "👨‍👩‍👧",
                            EMOJI,
                            EMOJI.substring(2) + "😁"),
                    Stream.of("l".repeat(255), "l".repeat(254) + "L", "l".repeat(254), "é".repeat(255)))
            .flatMap(texts -> texts)
            .toList();

    /** Each text as the id under one type, as the type of one id, and as both. */
    private static final List<LockName> NAMES = TEXTS.stream()
            .flatMap(text -> Stream.of(LockName.of("t", text), LockName.of(text, "i"), LockName.of(text, text)))
            .distinct()
            .toList();

    /** For the databases. */
    protected NamesContract() {}

    @Test
    void similar_names_are_different_offline_locks_and_each_works() {
        Map<LockName, LockId> held = new HashMap<>();
        for (int i = 0; i < NAMES.size(); i++) {
            LockName name = NAMES.get(i);
            held.put(name, locks.manager().tryLock(name.type(), name.id(), "owner-" + i, MINUTE));
        }

        for (int i = 0; i < NAMES.size(); i++) {
            LockName name = NAMES.get(i);
            LockId id = new LockId(Objects.requireNonNull(held.get(name)).value());
            LockData data = other.manager().checkLock(id);
            assertThat(data.name()).isEqualTo(name).isEqualTo(id.name());
            assertThat(data.owner()).isEqualTo("owner-" + i);
            other.manager().extendLockExpiration(id, MINUTE);
            other.manager().releaseLock(id);
            assertThatExceptionOfType(NoLockException.class)
                    .isThrownBy(() -> locks.manager().checkLock(id));
        }
        assertThat(locks.admin().counts().free()).isEqualTo(NAMES.size());
    }

    @Test
    void similar_names_are_different_locks_by_owner() {
        for (String text : TEXTS) {
            assertThat(locks.distLock().tryLock(text, "kim", MINUTE)).as(text).isTrue();
        }
        assertThat(locks.admin().counts().held()).isEqualTo(TEXTS.size());
        for (String text : TEXTS) {
            assertThat(other.distLock().tryLock(text, "lee", MINUTE)).as(text).isFalse();
            locks.distLock().unlock(text, "kim");
        }
        assertThat(locks.admin().counts().held()).isZero();
    }

    @Test
    void similar_names_are_different_leases_and_all_are_renewed_together() {
        Set<LockName> renewed = ConcurrentHashMap.newKeySet();
        Locks node = closing(builder()
                .listener(event -> {
                    if (event.kind() == LockEvent.Kind.RENEWED) {
                        renewed.add(event.name());
                    }
                })
                .build());
        List<Lease> leases = new ArrayList<>();
        for (LockName name : NAMES) {
            leases.add(
                    node.lease(name).lasting(Duration.ofSeconds(9)).tryAcquire().orElseThrow());
        }

        Soon.holds("all are renewed", () -> renewed.containsAll(NAMES));

        assertThat(leases)
                .allMatch(Lease::isHeld)
                .allSatisfy(lease -> assertThat(other.admin().find(lease.name()))
                        .hasValueSatisfying(data -> assertThat(data.held()).isTrue()));
        leases.forEach(Lease::close);
        assertThat(other.admin().counts().free()).isEqualTo(NAMES.size());
    }

    @Test
    void all_of_them_can_be_taken_together() {
        for (int round = 0; round < 2; round++) {
            try (Lease all = locks.leaseAll(NAMES).tryAcquire().orElseThrow()) {
                assertThat(all.names()).containsExactlyInAnyOrderElementsOf(NAMES);
                assertThat(other.admin().counts().held()).isEqualTo(NAMES.size());
                assertThat(other.leaseAll(NAMES).tryAcquire()).isEmpty();
                all.renew();
            }
            assertThat(other.admin().counts().held()).isZero();
        }
    }

    @Test
    void whoever_waits_for_one_on_another_node_gets_it() throws Exception {
        Queue<Throwable> uncaught = new ConcurrentLinkedQueue<>();
        Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
        Thread.setDefaultUncaughtExceptionHandler((thread, reason) -> uncaught.add(reason));
        try {
            List<LockName> some = IntStream.range(0, NAMES.size())
                    .filter(i -> i % 3 != 0)
                    .mapToObj(NAMES::get)
                    .toList();
            List<Lease> held = new ArrayList<>();
            List<CompletableFuture<Lease>> waiting = new ArrayList<>();
            for (LockName name : some) {
                held.add(locks.lease(name).tryAcquire().orElseThrow());
                waiting.add(other.lease(name)
                        .acquireAsync(Wait.upTo(Duration.ofMinutes(2)))
                        .toCompletableFuture());
            }
            held.forEach(Lease::close);
            for (int i = 0; i < some.size(); i++) {
                Lease lease = waiting.get(i).get(2, TimeUnit.MINUTES);
                assertThat(lease.name()).isEqualTo(some.get(i));
                lease.close();
            }
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(before);
        }
        assertThat(uncaught).isEmpty();
    }

    @Test
    void an_operator_finds_lists_and_frees_each() {
        NAMES.forEach(name -> locks.manager().tryLock(name.type(), name.id(), "kim", MINUTE));

        assertThat(other.admin().list(LockFilter.all().limit(1000)))
                .map(LockData::name)
                .containsExactlyInAnyOrderElementsOf(NAMES);
        for (LockName name : NAMES) {
            assertThat(other.admin().list(LockFilter.held().ofType(name.type()).idContaining(name.id())))
                    .map(LockData::name)
                    .contains(name)
                    .allMatch(found ->
                            found.type().equals(name.type()) && found.id().contains(name.id()));
            LockData data = other.admin().find(name).orElseThrow();
            assertThat(data.name()).isEqualTo(name);
            assertThat(other.admin().forceRelease(name, data.fence(), "ops", "done"))
                    .isTrue();
        }
        assertThat(other.admin().counts().held()).isZero();
    }

    @Test
    void owners_and_notes_keep_every_character() {
        for (String text : TEXTS) {
            LockId id = locks.manager().tryLock("order", "42", text, MINUTE, text + text);

            LockData data = other.manager().checkLock(id);

            assertThat(data.owner()).isEqualTo(text);
            assertThat(data.note()).isEqualTo(text + text);
            assertThat(other.admin().list(LockFilter.all().ownedBy(text))).hasSize(1);
            locks.manager().releaseLock(id);
        }
        String longest = "😀".repeat(1000);
        LockId id = locks.manager().tryLock("order", "42", EMOJI, MINUTE, longest);
        assertThat(locks.manager().checkLock(id).note()).isEqualTo(longest);
    }

    @Test
    void what_is_no_name_is_refused_with_the_part_and_the_place() {
        Map<String, String> wrong = new HashMap<>();
        wrong.put("", "blank");
        wrong.put(" ", "blank");
        wrong.put("\t\n", "blank");
        wrong.put("l".repeat(256), "256 characters");
        wrong.put(EMOJI + "x", "256 characters");
        wrong.put("ab\u0000c", "U+0000 at position 2");
        wrong.put("\uD83Dx", "lone surrogate at position 0");
        wrong.put("ab\uD83D", "lone surrogate at position 2");
        wrong.put("a\uDE00b", "lone surrogate at position 1");
        wrong.put("😀\uDE00", "lone surrogate at position 2");
        wrong.forEach((text, problem) -> {
            assertRefused(() -> locks.manager().tryLock(text, "42"), "type", problem);
            assertRefused(() -> locks.manager().tryLock("order", text), "id", problem);
            assertRefused(() -> locks.manager().tryLock("order", text, "kim", MINUTE, "note"), "id", problem);
            assertRefused(() -> locks.lease(text), "id", problem);
            assertRefused(() -> LockName.of(text, "42"), "type", problem);
            assertRefused(() -> locks.leaseAll("fine", text), "id", problem);
            assertRefused(() -> locks.distLock().tryLock(text, "kim", MINUTE), "id", problem);
            assertRefused(() -> locks.distLock().unlock(text, "kim"), "id", problem);
        });
        assertThat(locks.admin().counts().total()).isZero();
    }

    @Test
    void what_is_no_owner_or_note_is_refused() {
        Map<String, String> wrong = new HashMap<>();
        wrong.put("", "blank");
        wrong.put(" ", "blank");
        wrong.put("ab\u0000c", "U+0000");
        wrong.put("ab\uD83D", "lone surrogate");
        wrong.put("\uDE00b", "lone surrogate");
        wrong.forEach(this::assertRefusedAsOwner);
        wrong.forEach(this::assertRefusedAsNote);
        assertRefusedAsOwner(EMOJI + "x", "256 characters");
        assertRefusedAsNote("😀".repeat(1001), "1001 characters");
        assertThat(locks.admin().counts().total()).isZero();
    }

    private void assertRefusedAsOwner(String owner, String problem) {
        assertRefused(() -> builder().owner(owner), "owner", problem);
        assertRefused(() -> locks.manager().tryLock("order", "42", owner), "owner", problem);
        assertRefused(() -> locks.lease("job").owner(owner), "owner", problem);
        assertRefused(() -> locks.distLock().tryLock("job", owner, MINUTE), "owner", problem);
        assertRefused(() -> locks.distLock().unlock("job", owner), "owner", problem);
        assertRefused(() -> locks.admin().forceRelease(LockName.of("job"), 1, owner, "why"), "owner", problem);
    }

    private void assertRefusedAsNote(String note, String problem) {
        assertRefused(() -> locks.manager().tryLock("order", "42", "kim", MINUTE, note), "note", problem);
        assertRefused(() -> locks.lease("job").note(note), "note", problem);
        assertRefused(() -> locks.admin().forceRelease(LockName.of("job"), 1, "ops", note), "reason", problem);
    }

    private static void assertRefused(ThrowingCallable call, String part, String problem) {
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(call)
                .withMessageContainingAll(part, problem);
    }
}
