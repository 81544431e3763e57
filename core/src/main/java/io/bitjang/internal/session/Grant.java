// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.session;

import io.bitjang.internal.sql.SessionLink;

/**
 * A lock that a session has.
 *
 * @param link the session's connection
 * @param key the lock's key there
 */
record Grant(SessionLink link, Object key) {}
