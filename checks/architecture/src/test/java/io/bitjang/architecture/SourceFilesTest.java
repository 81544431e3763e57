// SPDX-License-Identifier: Apache-2.0
package io.bitjang.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What can be seen only in the sources. */
class SourceFilesTest {
    private static final int LONGEST_FILE = 400;
    private static final int LARGEST_CORE = 9_882;

    /** Blank lines and comments don't count, imports do: they show what a file is tied to. */
    private static final Pattern NO_CODE = Pattern.compile("^\\s*($|//|/?\\*)");

    private static final Pattern LOCALISED_NUMBER = Pattern.compile("%[-#+ 0,(]*\\d*(\\.\\d+)?[dfeg]\\b");
    private static final Pattern MONITOR = Pattern.compile("^(?!\\s*(//|\\*|/\\*)).*\\bsynchronized\\b");

    @Test
    void no_source_file_escapes_these_rules() {
        assertThat(Modules.sourceFiles())
                .hasSizeGreaterThan(500)
                .containsExactlyInAnyOrderElementsOf(Modules.sourceFilesIn(Modules.ROOT).stream()
                        .filter(file -> !file.toString().contains("/target/"))
                        .toList());
    }

    @Test
    void no_file_is_longer_than_a_reader_can_follow() {
        List<Path> files = Modules.sourceFiles();
        assertThat(files)
                .filteredOn(file -> Modules.linesOf(file).size() > LONGEST_FILE)
                .as("files of more than %d lines", LONGEST_FILE)
                .isEmpty();
    }

    @Test
    void core_can_be_read_in_an_hour() {
        int lines = Modules.sourceFilesIn(Modules.CORE_SOURCES).stream()
                .mapToInt(SourceFilesTest::linesOfCode)
                .sum();
        assertThat(lines).as("lines of code in the core's main sources").isBetween(1, LARGEST_CORE);
    }

    private static int linesOfCode(Path file) {
        return (int) Modules.linesOf(file).stream()
                .filter(line -> !NO_CODE.matcher(line).find())
                .count();
    }

    @Test
    void no_number_is_written_in_the_users_language() {
        assertThat(Modules.sourceFilesIn(Modules.CORE_SOURCES))
                .filteredOn(file -> Modules.linesOf(file).stream()
                        .anyMatch(line -> LOCALISED_NUMBER.matcher(line).find()))
                .as("files that format a number with %d and the like, which gives other digits in Arabic; use %s")
                .isEmpty();
    }

    @Test
    void every_file_names_its_licence() {
        assertThat(Modules.sourceFiles())
                .filteredOn(file -> !Modules.linesOf(file).get(0).equals("// SPDX-License-Identifier: Apache-2.0"))
                .as("files without the licence in their first line")
                .isEmpty();
    }

    @Test
    void core_uses_locks_that_do_not_pin_a_virtual_thread() {
        assertThat(Modules.sourceFilesIn(Modules.CORE_SOURCES))
                .filteredOn(file -> Modules.linesOf(file).stream()
                        .anyMatch(line -> MONITOR.matcher(line).find()))
                .as("files with a monitor instead of a ReentrantLock")
                .isEmpty();
    }
}
