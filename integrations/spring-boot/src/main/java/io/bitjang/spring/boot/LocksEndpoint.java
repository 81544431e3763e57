// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import io.bitjang.LockData;
import io.bitjang.LockName;
import io.bitjang.admin.LockAdmin;
import io.bitjang.admin.LockFilter;
import java.security.Principal;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;

/**
 * What is locked, by whom, and how to take it away. Reading works at once; releasing only where the operator allows it
 * ({@code management.endpoint.locks.access=unrestricted}). No answer has a lock id. Thread-safe.
 */
@Endpoint(id = "locks", defaultAccess = Access.READ_ONLY)
final class LocksEndpoint {

    private static final Log LOG = LogFactory.getLog(LocksEndpoint.class);
    private static final int PAGE = 100;

    /** Control characters, and what Unicode has to separate lines and paragraphs. */
    private static final Pattern LINE_BREAKS = Pattern.compile("[\\p{Cc}\\p{Zl}\\p{Zp}]");

    private final LockAdmin admin;

    LocksEndpoint(LockAdmin admin) {
        this.admin = admin;
    }

    /**
     * One page of locks.
     *
     * @param locks in the order of type and id
     * @param next where the next page begins; null if this is the last
     */
    record Page(List<Lock> locks, @Nullable After next) {}

    /** The last lock of a page: {@code afterType} and {@code afterId} of the next. */
    record After(String type, String id) {}

    /** A lock, without its lock id. */
    record Lock(
            String type,
            String id,
            String state,
            @Nullable String owner,
            long fence,
            @Nullable Instant acquiredAt,
            @Nullable Instant expiresAt,
            long remainingMs,
            @Nullable String note) {

        static Lock of(LockData data) {
            return new Lock(
                    data.type(),
                    data.id(),
                    data.held() ? "held" : data.isExpired() ? "expired" : "free",
                    data.owner(),
                    data.fence(),
                    data.acquiredAt(),
                    data.expiresAt(),
                    data.remaining().toMillis(),
                    data.note());
        }
    }

    /**
     * What became of a release.
     *
     * @param released whether the lock was taken away
     * @param lock what is known about it now
     */
    record Release(boolean released, @Nullable Lock lock) {}

    @ReadOperation
    Page locks(
            @Nullable String state,
            @Nullable String type,
            @Nullable String id,
            @Nullable String owner,
            @Nullable String afterType,
            @Nullable String afterId,
            @Nullable Integer limit) {
        LockFilter filter;
        try {
            LockFilter.State wanted = state == null ? LockFilter.State.HELD : stateOf(state);
            @Nullable LockName after = afterType == null || afterId == null ? null : LockName.of(afterType, afterId);
            filter = new LockFilter(wanted, type, id, owner, after, limit == null ? PAGE : limit);
        } catch (IllegalArgumentException e) {
            throw bad(e.getMessage());
        }
        List<Lock> found = admin.list(filter).stream().map(Lock::of).toList();
        @Nullable Lock last = found.size() < filter.limit() ? null : found.get(found.size() - 1);
        return new Page(found, last == null ? null : new After(last.type(), last.id()));
    }

    private static LockFilter.State stateOf(String text) {
        return Arrays.stream(LockFilter.State.values())
                .filter(each -> each.name().equalsIgnoreCase(text))
                .findFirst()
                .orElseThrow(() -> bad("There is no state '" + text + "': state is held, expired, free or any"));
    }

    @ReadOperation
    @Nullable
    Lock lock(@Selector(match = Match.ALL_REMAINING) String... path) {
        return find(nameOf(path));
    }

    @WriteOperation
    Release release(
            SecurityContext security,
            long expectedFence,
            String reason,
            @Selector(match = Match.ALL_REMAINING) String... path) {
        LockName name = nameOf(path);
        @Nullable Principal principal = security.getPrincipal();
        String by = principal == null ? "actuator" : principal.getName();
        boolean released;
        try {
            released = admin.forceRelease(name, expectedFence, by, reason);
        } catch (IllegalArgumentException e) {
            throw bad(e.getMessage());
        }
        if (released) {
            LOG.warn(onOneLine(name + " (fence " + expectedFence + ") was taken away by " + by + ": " + reason));
        }
        return new Release(released, find(name));
    }

    /** What callers send must not look like a line of the log of its own. */
    private static String onOneLine(String text) {
        return LINE_BREAKS.matcher(text).replaceAll("?");
    }

    private @Nullable Lock find(LockName name) {
        return admin.find(name).map(Lock::of).orElse(null);
    }

    /** The first part is the type; the id is all the rest, and may have slashes. */
    private static LockName nameOf(String[] path) {
        if (path.length < 2) {
            throw bad("A lock is named by its type and its id: locks/{type}/{id}. A plain name has the type "
                    + LockName.PLAIN);
        }
        try {
            return LockName.of(path[0], String.join("/", Arrays.asList(path).subList(1, path.length)));
        } catch (IllegalArgumentException e) {
            throw bad(e.getMessage());
        }
    }

    static InvalidEndpointRequestException bad(@Nullable String message) {
        String reason = String.valueOf(message);
        return new InvalidEndpointRequestException(reason, reason);
    }
}
