// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.LockId;
import io.bitjang.LockName;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.zip.CRC32;

/**
 * What a {@link LockId} says: name, fence and the random part that the table's column holds.
 *
 * <p>The text is base64url of: version, fence (8 bytes), random part (16), length of the type (2), type, id, CRC-32 of all that (4).
 * So every statement finds its row by primary key, and no index on the lock id is needed; and a text that was cut off or mistyped
 * is told apart from a lock that is gone.
 */
public record GrantKey(LockName name, long fence, String secret) {

    private static final byte VERSION = 1;
    private static final int SECRET_BYTES = 16;
    private static final int HEADER = 1 + Long.BYTES + SECRET_BYTES + Short.BYTES;
    private static final int MAX_TEXT = 4096;
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Base64.Encoder ENCODER = Base64.getUrlEncoder().withoutPadding();

    /** Makes a new random part, as the table holds it. */
    public static String newSecret() {
        byte[] bytes = new byte[SECRET_BYTES];
        RANDOM.nextBytes(bytes);
        return ENCODER.encodeToString(bytes);
    }

    /** Reads the key behind a lock id. */
    public static GrantKey of(LockId id) {
        return decode(id.value());
    }

    /** Makes the lock id that carries this key. */
    public LockId toLockId() {
        byte[] type = name.type().getBytes(StandardCharsets.UTF_8);
        byte[] id = name.id().getBytes(StandardCharsets.UTF_8);
        ByteBuffer buffer = ByteBuffer.allocate(HEADER + type.length + id.length + Integer.BYTES);
        buffer.put(VERSION).putLong(fence).put(Base64.getUrlDecoder().decode(secret));
        buffer.putShort((short) type.length).put(type).put(id);
        buffer.putInt(checksum(buffer.array()));
        return new LockId(ENCODER.encodeToString(buffer.array()));
    }

    /** Reads the text of a lock id; the message of a failure does not repeat it. */
    public static GrantKey decode(String text) {
        try {
            if (text.length() > MAX_TEXT) {
                throw new IllegalArgumentException("too long");
            }
            byte[] bytes = Base64.getUrlDecoder().decode(text);
            ByteBuffer buffer = ByteBuffer.wrap(bytes, 0, bytes.length - Integer.BYTES);
            if (buffer.remaining() <= HEADER || buffer.get() != VERSION) {
                throw new IllegalArgumentException("too short or of another version");
            }
            // the last character has bits to spare: only one way to write them is the right one
            if (checksum(bytes) != ByteBuffer.wrap(bytes).getInt(bytes.length - Integer.BYTES)
                    || !ENCODER.encodeToString(bytes).equals(text)) {
                throw new IllegalArgumentException("cut off or changed");
            }
            long fence = buffer.getLong();
            byte[] secret = new byte[SECRET_BYTES];
            buffer.get(secret);
            byte[] type = new byte[buffer.getShort()];
            buffer.get(type);
            byte[] id = new byte[buffer.remaining()];
            buffer.get(id);
            LockName name = LockName.of(text(type), text(id));
            return new GrantKey(name, fence, ENCODER.encodeToString(secret));
        } catch (RuntimeException e) {
            // not chained: a decoder's message may repeat parts of the secret
            throw new IllegalArgumentException("This text is no lock id (" + text.length() + " characters)");
        }
    }

    /** Computes the CRC-32 of all but the last four bytes. */
    private static int checksum(byte[] bytes) {
        CRC32 crc = new CRC32();
        crc.update(bytes, 0, bytes.length - Integer.BYTES);
        return (int) crc.getValue();
    }

    private static String text(byte[] bytes) {
        String text = new String(bytes, StandardCharsets.UTF_8);
        if (text.indexOf('\uFFFD') >= 0 && !java.util.Arrays.equals(text.getBytes(StandardCharsets.UTF_8), bytes)) {
            throw new IllegalArgumentException("not UTF-8");
        }
        return text;
    }

    /** Shows name and fence, not the secret. */
    @Override
    public String toString() {
        return name + " #" + fence;
    }
}
