// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.scenarios;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Sees whether two are inside at a time, in whatever process: a word of memory that all of them share. Thread-safe. */
final class Exclusion {

    private static final int SLOTS = 64;
    private static final VarHandle WORD = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private final ByteBuffer memory;

    Exclusion(Path file) throws IOException {
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE)) {
            memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, SLOTS * Long.BYTES);
        }
    }

    /** Whether nobody was inside. */
    boolean enters(int slot) {
        return (long) WORD.getAndAdd(memory, slot * Long.BYTES, 1L) == 0L;
    }

    void leaves(int slot) {
        WORD.getAndAdd(memory, slot * Long.BYTES, -1L);
    }
}
