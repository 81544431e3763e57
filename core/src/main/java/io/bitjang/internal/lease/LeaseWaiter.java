// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockName;
import io.bitjang.Wait;
import io.bitjang.internal.time.Ticker;
import io.bitjang.internal.work.Waiter;
import java.util.List;

/** A caller who waits for a lease. Thread-safe. */
final class LeaseWaiter extends Waiter<LeaseHandle> {

    final Request request;

    LeaseWaiter(Ticker ticker, List<LockName> names, Request request, Wait wait) {
        super(ticker, names, wait);
        this.request = request;
    }
}
