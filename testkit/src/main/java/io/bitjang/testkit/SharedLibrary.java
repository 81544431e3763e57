// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes a tiny shared library (ELF, x86-64) of functions with symbol versions: as much of the format as a dynamic linker reads, in
 * two pages. The first holds the tables and the code, the second, writable, the dynamic section.
 */
final class SharedLibrary {

    private static final int PAGE = 0x1000;
    private static final int HEADER = 64;
    private static final int PROGRAM_HEADER = 56;
    private static final int SYMBOL = 24;

    private final String name;
    private final List<Function> functions = new ArrayList<>();
    private final Map<String, Integer> versions = new LinkedHashMap<>();
    private final StringBuilder strings = new StringBuilder("\0");

    private record Function(String name, int version, byte[] code) {}

    SharedLibrary(String name) {
        this.name = name;
    }

    SharedLibrary function(String version, String function, byte[] code) {
        // The numbers 0 and 1 stand for none and for the library itself.
        int number = versions.computeIfAbsent(version, added -> versions.size() + 2);
        functions.add(new Function(function, number, code));
        return this;
    }

    /** A function that hands its arguments to the kernel and its answer back. */
    static byte[] systemCall(int number) {
        return ByteBuffer.allocate(11)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put((byte) 0xB8)
                .putInt(number) // mov eax, number
                .put(new byte[] {0x49, (byte) 0x89, (byte) 0xCA}) // mov r10, rcx: the fourth argument
                .put(new byte[] {0x0F, 0x05}) // syscall
                .put((byte) 0xC3) // ret
                .array();
    }

    /** A function that does nothing but answer. */
    static byte[] answer(int value) {
        return ByteBuffer.allocate(8)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put(new byte[] {0x48, (byte) 0xC7, (byte) 0xC0})
                .putInt(value) // mov rax, value
                .put((byte) 0xC3) // ret
                .array();
    }

    byte[] bytes() {
        ByteBuffer out = ByteBuffer.allocate(PAGE + 0x200).order(ByteOrder.LITTLE_ENDIAN);
        int soname = string(name);

        int code = HEADER + 4 * PROGRAM_HEADER;
        List<Integer> addresses = new ArrayList<>();
        out.position(code);
        for (Function function : functions) {
            addresses.add(align(out, 16));
            out.put(function.code());
        }

        int symbols = align(out, 8);
        out.position(symbols + SYMBOL); // the first symbol is no symbol
        for (int i = 0; i < functions.size(); i++) {
            out.putInt(string(functions.get(i).name()));
            out.put((byte) 0x12).put((byte) 0).putShort((short) 1); // a global function, defined here
            out.putLong(addresses.get(i)).putLong(functions.get(i).code().length);
        }

        int hash = align(out, 8);
        out.putInt(1).putInt(functions.size() + 1).putInt(1).putInt(0); // one bucket with everything in it
        for (int i = 1; i <= functions.size(); i++) {
            out.putInt(i < functions.size() ? i + 1 : 0);
        }

        int symbolVersions = align(out, 8);
        out.putShort((short) 0);
        functions.forEach(f -> out.putShort((short) f.version()));

        int definitions = align(out, 8);
        putVersion(out, 1, 1, name, soname, false);
        versions.forEach(
                (version, index) -> putVersion(out, 0, index, version, string(version), index == versions.size() + 1));

        int text = out.position();
        byte[] table = strings.toString().getBytes(StandardCharsets.US_ASCII);
        out.put(table);
        int end = out.position();

        out.position(PAGE);
        long[][] dynamic = {
            {14, soname}, // SONAME
            {4, hash}, // HASH
            {5, text}, // STRTAB
            {6, symbols}, // SYMTAB
            {10, table.length}, // STRSZ
            {11, SYMBOL}, // SYMENT
            {0x6ffffff0L, symbolVersions}, // VERSYM
            {0x6ffffffcL, definitions}, // VERDEF
            {0x6ffffffdL, versions.size() + 1}, // VERDEFNUM
            {0, 0}
        };
        for (long[] entry : dynamic) {
            out.putLong(entry[0]).putLong(entry[1]);
        }
        int size = out.position();
        putHeaders(out, end, size - PAGE);
        return java.util.Arrays.copyOf(out.array(), size);
    }

    private static void putHeaders(ByteBuffer out, int firstPage, int dynamic) {
        out.position(0);
        out.put(new byte[] {0x7F, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0});
        out.putShort((short) 3).putShort((short) 62).putInt(1); // a shared object for x86-64
        out.putLong(0).putLong(HEADER).putLong(0).putInt(0); // no entry point, no sections
        out.putShort((short) HEADER).putShort((short) PROGRAM_HEADER).putShort((short) 4);
        out.putShort((short) 64).putShort((short) 0).putShort((short) 0);
        putSegment(out, 1, 5, 0, firstPage, PAGE); // loaded, readable and executable
        putSegment(out, 1, 6, PAGE, dynamic, PAGE); // loaded, readable and writable
        putSegment(out, 2, 6, PAGE, dynamic, 8); // the dynamic section
        putSegment(out, 0x6474e551, 6, 0, 0, 16); // a stack that is not executable
    }

    private static void putSegment(ByteBuffer out, int type, int flags, long at, long size, long alignment) {
        out.putInt(type).putInt(flags).putLong(at).putLong(at).putLong(at);
        out.putLong(size).putLong(size).putLong(alignment);
    }

    private static void putVersion(ByteBuffer out, int flags, int index, String version, int text, boolean last) {
        out.putShort((short) 1).putShort((short) flags).putShort((short) index).putShort((short) 1);
        out.putInt(elfHash(version)).putInt(20).putInt(last ? 0 : 28);
        out.putInt(text).putInt(0);
    }

    private int string(String text) {
        int at = strings.length();
        strings.append(text).append('\0');
        return at;
    }

    private static int align(ByteBuffer out, int to) {
        out.position((out.position() + to - 1) / to * to);
        return out.position();
    }

    private static int elfHash(String text) {
        int hash = 0;
        for (byte letter : text.getBytes(StandardCharsets.US_ASCII)) {
            hash = (hash << 4) + letter;
            int high = hash & 0xf0000000;
            hash = (hash ^ (high >>> 24)) & ~high;
        }
        return hash;
    }
}
