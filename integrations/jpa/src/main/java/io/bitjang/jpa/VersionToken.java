// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa;

import java.nio.ByteBuffer;
import java.sql.Timestamp;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Base64;
import java.util.Objects;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * The version of an aggregate as an opaque text, for the hidden field of a form or for an ETag. A token that was cut, mistyped or
 * changed is noticed; it is no signature, and a version no secret. Immutable.
 */
public final class VersionToken {

    private static final int BYTES = 1 + Long.BYTES + Integer.BYTES + Integer.BYTES;

    private enum Kind {
        NUMBER,
        INSTANT,
        LOCAL
    }

    private final Object version;
    private final Kind kind;

    private VersionToken(Object version, Kind kind) {
        this.version = version;
        this.kind = kind;
    }

    /**
     * For the value of a {@code @Version} attribute.
     *
     * @throws IllegalArgumentException if it is none that JPA knows
     */
    public static VersionToken of(Object version) {
        Objects.requireNonNull(version, "version");
        if (version instanceof Long || version instanceof Integer || version instanceof Short) {
            return new VersionToken(((Number) version).longValue(), Kind.NUMBER);
        } else if (version instanceof Timestamp timestamp) {
            return new VersionToken(timestamp.toInstant(), Kind.INSTANT);
        } else if (version instanceof Instant) {
            return new VersionToken(version, Kind.INSTANT);
        } else if (version instanceof LocalDateTime) {
            return new VersionToken(version, Kind.LOCAL);
        }
        throw new IllegalArgumentException(
                "Not a version: " + version.getClass().getName());
    }

    /**
     * What {@link #value()} gave.
     *
     * @throws IllegalArgumentException if the text is no token
     */
    public static VersionToken parse(String text) {
        Objects.requireNonNull(text, "text");
        try {
            byte[] bytes = Base64.getUrlDecoder().decode(text);
            VersionToken token = bytes.length == BYTES ? decoded(ByteBuffer.wrap(bytes)) : null;
            // what it would not have given itself was changed: the check stands in the text, too
            if (token != null && token.value().equals(text)) {
                return token;
            }
        } catch (IllegalArgumentException | DateTimeException e) {
            throw invalid(text, e);
        }
        throw invalid(text, null);
    }

    private static @Nullable VersionToken decoded(ByteBuffer bytes) {
        int kind = bytes.get();
        long number = bytes.getLong();
        int nanos = bytes.getInt();
        if (kind < 0 || kind >= Kind.values().length) {
            return null;
        }
        return switch (Kind.values()[kind]) {
            case NUMBER -> new VersionToken(number, Kind.NUMBER);
            case INSTANT -> new VersionToken(Instant.ofEpochSecond(number, nanos), Kind.INSTANT);
            case LOCAL -> new VersionToken(LocalDateTime.ofEpochSecond(number, nanos, ZoneOffset.UTC), Kind.LOCAL);
        };
    }

    /**
     * What {@link #etag()} gave, as it stands in {@code If-Match}.
     *
     * @throws IllegalArgumentException if it is no strong ETag of ours
     */
    public static VersionToken parseEtag(String etag) {
        Objects.requireNonNull(etag, "etag");
        String text = etag.strip();
        if (text.startsWith("W/")) {
            throw new IllegalArgumentException("A weak ETag says nothing about the version: " + etag);
        }
        if (text.length() < 2 || !text.startsWith("\"") || !text.endsWith("\"")) {
            throw new IllegalArgumentException("An ETag stands in double quotes: " + etag);
        }
        return parse(text.substring(1, text.length() - 1));
    }

    private static IllegalArgumentException invalid(String text, @Nullable Exception cause) {
        return new IllegalArgumentException("Not the token of a version, or changed on its way: " + text, cause);
    }

    /** The text: letters, digits, hyphens and underscores. */
    public String value() {
        ByteBuffer buffer = ByteBuffer.allocate(BYTES).put((byte) kind.ordinal());
        if (version instanceof Instant instant) {
            buffer.putLong(instant.getEpochSecond()).putInt(instant.getNano());
        } else if (version instanceof LocalDateTime time) {
            buffer.putLong(time.toEpochSecond(ZoneOffset.UTC)).putInt(time.getNano());
        } else {
            buffer.putLong((Long) version).putInt(0);
        }
        buffer.putInt(check(buffer.array()));
        return Base64.getUrlEncoder().withoutPadding().encodeToString(buffer.array());
    }

    /** The text as a strong ETag, in its quotes. */
    public String etag() {
        return '"' + value() + '"';
    }

    private static int check(byte[] bytes) {
        CRC32 check = new CRC32();
        check.update(bytes, 0, BYTES - Integer.BYTES);
        return (int) check.getValue();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof VersionToken token && version.equals(token.version);
    }

    @Override
    public int hashCode() {
        return version.hashCode();
    }

    /** The version itself. */
    @Override
    public String toString() {
        return version.toString();
    }
}
