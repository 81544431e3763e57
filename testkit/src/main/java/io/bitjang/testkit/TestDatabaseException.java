// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import org.jspecify.annotations.Nullable;

/** A test database could not be unpacked, started, reached or told what to do. */
public final class TestDatabaseException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    TestDatabaseException(String message) {
        super(message);
    }

    TestDatabaseException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
