// SPDX-License-Identifier: Apache-2.0
package io.bitjang.admin;

import io.bitjang.LockName;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Which locks to list. Immutable: each method returns a changed copy.
 *
 * @param state only locks in this state
 * @param type only locks of this type, exactly
 * @param idPart only locks whose id contains this text
 * @param owner only locks of this owner, exactly
 * @param after only locks behind this one, in the order of type and id: the last of the page before
 * @param limit at most so many, 1 to 1,000
 */
public record LockFilter(
        State state,
        @Nullable String type,
        @Nullable String idPart,
        @Nullable String owner,
        @Nullable LockName after,
        int limit) {

    /** The state of a lock's row. */
    public enum State {
        /** Whatever the state. */
        ANY,
        /** Held, by the database's clock. */
        HELD,
        /** Ran out without a release. */
        EXPIRED,
        /** Released. */
        FREE
    }

    /** Checks the limit. */
    public LockFilter {
        Objects.requireNonNull(state, "state");
        if (limit < 1 || limit > 1000) {
            throw new IllegalArgumentException("A page has 1 to 1,000 locks, not " + limit);
        }
    }

    /** All locks, 100 to a page. */
    public static LockFilter all() {
        return new LockFilter(State.ANY, null, null, null, null, 100);
    }

    /** The locks that are held. */
    public static LockFilter held() {
        return all().in(State.HELD);
    }

    /** Only in this state. */
    public LockFilter in(State wanted) {
        return new LockFilter(wanted, type, idPart, owner, after, limit);
    }

    /** Only of this type. */
    public LockFilter ofType(String wanted) {
        return new LockFilter(state, wanted, idPart, owner, after, limit);
    }

    /** Only with this text in their id. */
    public LockFilter idContaining(String wanted) {
        return new LockFilter(state, type, wanted, owner, after, limit);
    }

    /** Only of this owner. */
    public LockFilter ownedBy(String wanted) {
        return new LockFilter(state, type, idPart, wanted, after, limit);
    }

    /** Only behind this one. */
    public LockFilter after(LockName last) {
        return new LockFilter(state, type, idPart, owner, last, limit);
    }

    /** At most so many. */
    public LockFilter limit(int wanted) {
        return new LockFilter(state, type, idPart, owner, after, wanted);
    }
}
