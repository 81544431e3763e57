// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import io.bitjang.internal.sql.Texts;
import java.util.Comparator;

/**
 * The name of a lock: a type and an id, each any Unicode text of 1 to 255 characters (code points) that is not blank.
 *
 * <p>Names are compared exactly, on every database: {@code A} and {@code a}, {@code é} and {@code e}, {@code x} and {@code x }
 * (with a blank) are different locks.
 *
 * @param type what kind of thing is locked, for example {@code order}; a plain name has the type {@value #PLAIN}
 * @param id which one, for example {@code 42}
 */
public record LockName(String type, String id) implements Comparable<LockName> {

    /** The type of a lock that was named by one text only. */
    public static final String PLAIN = "lock";

    private static final int MAX = 255;
    private static final Comparator<LockName> ORDER =
            Comparator.comparing(LockName::type, Texts::compare).thenComparing(LockName::id, Texts::compare);

    /** Checks both parts and names the part that is wrong. */
    public LockName {
        Texts.require("type of a lock", type, MAX);
        Texts.require("id of a lock", id, MAX);
    }

    /** The lock with this plain name. */
    public static LockName of(String name) {
        return new LockName(PLAIN, name);
    }

    /** The lock of this type and id. */
    public static LockName of(String type, String id) {
        return new LockName(type, id);
    }

    @Override
    public int compareTo(LockName other) {
        return ORDER.compare(this, other);
    }

    /** The id alone for a plain name, otherwise {@code type/id}. */
    @Override
    public String toString() {
        return type.equals(PLAIN) ? id : type + "/" + id;
    }
}
