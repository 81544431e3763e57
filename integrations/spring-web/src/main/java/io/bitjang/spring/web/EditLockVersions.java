// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import io.bitjang.LockName;
import java.util.Optional;

/**
 * Knows the version of what a lock protects: an optional bean of the application's. With it {@code If-Match} is checked when a
 * lock is taken and when a {@linkplain RequiresEditLock guarded handler} saves; without it a request to take a lock with {@code
 * If-Match} is refused, because ignoring it silently would mislead.
 *
 * <p>Must be thread-safe. Inside a guarded handler's transaction it is called on that transaction's thread.
 */
@FunctionalInterface
public interface EditLockVersions {

    /** The strong ETag of what is stored now, in its quotes or without; empty if there is no such thing. */
    Optional<String> etag(LockName name);
}
