// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.internal.sql.LockStore;
import io.bitjang.internal.time.Ticker;
import io.bitjang.internal.work.Events;
import io.bitjang.internal.work.Workers;

/**
 * What the parts of one instance share.
 *
 * @param driver runs what they plan
 * @param store plans the statements
 * @param workers keep the alarms, and run what is none of the database's business
 * @param events tells the listeners
 * @param lifetime whether the instance is open
 */
record Instance(Driver driver, LockStore store, Workers workers, Events events, Lifetime lifetime) {

    Ticker ticker() {
        return workers.ticker();
    }
}
