// SPDX-License-Identifier: Apache-2.0
package io.bitjang.demo;

/** Something did not happen as the demonstration says that it does. */
final class NotAsPromised extends RuntimeException {

    private static final long serialVersionUID = 1L;

    NotAsPromised(String message) {
        super(message);
    }

    static void unless(boolean kept, String promise) {
        if (!kept) {
            throw new NotAsPromised("not as promised: " + promise);
        }
    }
}
