// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import io.bitjang.internal.sql.GrantKey;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The identity of one grant of an offline lock: whoever has it, holds the lock.
 *
 * <p>It is an opaque text that carries the lock's name, its fence and 128 random bits. <strong>It is a secret</strong>: put it
 * into the hidden field of the holder's own form and nowhere else. {@link #toString()} hides it, so that a log line does not
 * give it away. Immutable.
 */
public final class LockId {

    private final String value;
    private final GrantKey key;

    /**
     * The lock id with this text, as it came back from a form.
     *
     * @throws IllegalArgumentException if the text is no lock id
     */
    public LockId(String value) {
        this.value = Objects.requireNonNull(value, "The text of a lock id is null");
        this.key = GrantKey.decode(value);
    }

    /** The text to hand to the holder. */
    public String value() {
        return value;
    }

    /** The same as {@link #value()}, for page templates that read properties ({@code ${lockId.value}}). */
    public String getValue() {
        return value;
    }

    /** The name of the lock that was granted. */
    public LockName name() {
        return key.name();
    }

    /** The number of this grant; it grows with every grant of the name, and is no secret. */
    public long fence() {
        return key.fence();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof LockId id && id.key.equals(key);
    }

    @Override
    public int hashCode() {
        return key.hashCode();
    }

    /** Name and fence, not the secret. */
    @Override
    public String toString() {
        return "LockId[" + key.name() + " #" + key.fence() + "]";
    }
}
