// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import static io.bitjang.testkit.SharedLibrary.answer;
import static io.bitjang.testkit.SharedLibrary.systemCall;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * MySQL's server is linked with two small libraries that many machines lack and that a test can't install: libaio, whose functions
 * are bare system calls, and libnuma, which is only asked whether it is available. Where one is missing, a library with just these
 * functions takes its place.
 */
final class MissingLibraries {

    private static final Pattern MISSING = Pattern.compile("loading shared libraries: ([^:]+):");

    private static final Map<String, Supplier<SharedLibrary>> KNOWN =
            Map.of("libaio.so.1", MissingLibraries::aio, "libnuma.so.1", MissingLibraries::numa);

    private MissingLibraries() {}

    static void provide(Path program, Path folder) throws IOException {
        for (int found = 0; found <= KNOWN.size(); found++) {
            String output = Shell.run(List.of(program.toString(), "--no-defaults", "--version"), "")
                    .output();
            Matcher missing = MISSING.matcher(output);
            if (!missing.find()) {
                return;
            }
            Supplier<SharedLibrary> library = KNOWN.get(missing.group(1));
            if (library == null || Files.exists(folder.resolve(missing.group(1)))) {
                throw new IOException(program.getFileName() + " cannot run on this machine: " + output.strip());
            }
            Files.write(folder.resolve(missing.group(1)), library.get().bytes());
        }
    }

    static SharedLibrary aio() {
        return new SharedLibrary("libaio.so.1")
                .function("LIBAIO_0.1", "io_submit", systemCall(209))
                .function("LIBAIO_0.4", "io_setup", systemCall(206))
                .function("LIBAIO_0.4", "io_destroy", systemCall(207))
                .function("LIBAIO_0.4", "io_getevents", systemCall(208));
    }

    static SharedLibrary numa() {
        return new SharedLibrary("libnuma.so.1")
                .function("libnuma_1.1", "numa_available", answer(-1))
                .function("libnuma_1.1", "numa_alloc_local", answer(0))
                .function("libnuma_1.1", "numa_free", answer(0))
                .function("libnuma_1.1", "mbind", answer(-1))
                .function("libnuma_1.1", "set_mempolicy", answer(-1))
                .function("libnuma_1.2", "numa_get_mems_allowed", answer(0))
                .function("libnuma_1.2", "numa_bitmask_free", answer(0));
    }
}
