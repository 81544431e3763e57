// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spi;

/**
 * Hears of everything that happens to this instance's locks, on the thread where it happens: be quick. What it throws is logged
 * and reaches nobody.
 */
@FunctionalInterface
public interface LockListener {

    /** Something happened. */
    void on(LockEvent event);
}
