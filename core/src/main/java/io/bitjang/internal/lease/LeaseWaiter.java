// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockName;
import io.bitjang.Wait;
import io.bitjang.internal.work.Waiter;
import java.util.List;

/** One who waits for a lease. Thread-safe. */
final class LeaseWaiter extends Waiter<LeaseHandle> {

    final Request request;

    LeaseWaiter(List<LockName> names, Request request, Wait wait) {
        super(names, wait);
        this.request = request;
    }
}
