// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpSession;
import java.util.concurrent.TimeUnit;

/**
 * Keeps an editor that is left open from keeping its login alive. The container counts every request as use of the session; a page
 * that renews its lock by itself is no use. So each such request looks when the one before it came: was that another kind of request,
 * the session was used then.
 */
final class Heartbeats {

    private static final String KEY = Heartbeats.class.getName();

    /** The container notes when a request has ended, we a moment earlier. */
    private static final long MOMENT = 100;

    private Heartbeats() {}

    /** Before a request that the page sent by itself: ends a session that was not used for longer than it may be idle. */
    static void begins(HttpServletRequest request) {
        HttpSession session = request.getSession(false);
        if (session == null || session.getMaxInactiveInterval() <= 0) {
            return;
        }
        long before = session.getLastAccessedTime();
        long used = session.getAttribute(KEY) instanceof long[] beat && before <= beat[0] + MOMENT ? beat[1] : before;
        long now = System.currentTimeMillis();
        if (now - used > TimeUnit.SECONDS.toMillis(session.getMaxInactiveInterval())) {
            session.invalidate();
            throw EditLockProblem.signIn();
        }
        session.setAttribute(KEY, new long[] {now, used});
    }

    /** After it. */
    static void ends(HttpServletRequest request) {
        HttpSession session = request.getSession(false);
        if (session != null && session.getAttribute(KEY) instanceof long[] beat) {
            session.setAttribute(KEY, new long[] {System.currentTimeMillis(), beat[1]});
        }
    }
}
