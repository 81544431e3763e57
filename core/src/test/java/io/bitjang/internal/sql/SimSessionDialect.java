// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.internal.dialect.SessionDialect;
import java.nio.ByteBuffer;
import java.util.Optional;

/** The language of the simulated session locks. */
public record SimSessionDialect() implements SessionDialect {

    @Override
    public boolean shares() {
        return true;
    }

    @Override
    public Object key(byte[] hash) {
        return ByteBuffer.wrap(hash).getLong();
    }

    @Override
    public String attempt() {
        return "attempt :key";
    }

    @Override
    public String await() {
        return "await :key :millis";
    }

    @Override
    public String release() {
        return "release :key";
    }

    @Override
    public Optional<String> releaseAll() {
        return Optional.of("releaseAll");
    }

    @Override
    public String holds() {
        return "holds :key";
    }

    @Override
    public String session() {
        return "session";
    }
}
