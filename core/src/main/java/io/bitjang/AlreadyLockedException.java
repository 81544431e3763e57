// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Someone else has the lock. Says who, since when and until when, where that is known. */
public final class AlreadyLockedException extends LockException {

    private static final long serialVersionUID = 1L;

    private final transient @Nullable LockData holder;

    /** With what is known about the holder; of several locks that were asked for, it is about the one that is held. */
    public AlreadyLockedException(LockName name, @Nullable LockData holder, String detail) {
        super(holder == null ? name : holder.name(), message(name, holder) + detail, null);
        this.holder = holder;
    }

    /** Who holds it, since when, until when. */
    public Optional<LockData> holder() {
        return Optional.ofNullable(holder);
    }

    private static String message(LockName name, @Nullable LockData holder) {
        return holder != null && holder.held() ? holder.toString() : name + " is held by someone else";
    }
}
