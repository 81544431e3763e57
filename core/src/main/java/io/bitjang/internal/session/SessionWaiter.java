// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.session;

import io.bitjang.LockName;
import io.bitjang.Wait;
import io.bitjang.internal.time.Ticker;
import io.bitjang.internal.work.Waiter;
import java.util.List;

/** A thread that waits for a session lock. Thread-safe. */
final class SessionWaiter extends Waiter<Holding> {

    final Thread thread = Thread.currentThread();

    /** Whether the lock comes from a holder in this process; set before this waiter is served. */
    boolean handedOver;

    SessionWaiter(Ticker ticker, LockName name, Wait wait) {
        super(ticker, List.of(name), wait);
    }

    LockName name() {
        return names().get(0);
    }
}
