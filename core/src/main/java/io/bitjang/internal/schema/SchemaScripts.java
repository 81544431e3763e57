// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.schema;

import io.bitjang.internal.sql.Tables;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The scripts that ship with the library, one for each version of the tables. Immutable. */
final class SchemaScripts {

    /** The version that this library works with. */
    static final int CURRENT = 1;

    private static final String DEFAULT = "bitjang_";
    private static final Pattern NAME = Pattern.compile("\\bbitjang_(\\w+)");

    private final String dialect;
    private final Tables tables;

    SchemaScripts(String dialect, Tables tables) {
        this.dialect = dialect;
        this.tables = tables;
    }

    /** Returns where a version's script is found in the jar. */
    String path(int version) {
        return "io/bitjang/schema/" + dialect + "/V" + version + "__bitjang.sql";
    }

    /** Says what to change in a script that is run by hand, where the tables have other names than in it; otherwise nothing. */
    String renaming() {
        String own = tables.qualified("");
        return own.equals(DEFAULT)
                ? ""
                : ", with '" + own + "' instead of '" + DEFAULT + "' at the beginning of each name in it";
    }

    /** Reads the statements of a version's script, with the tables' names as they are set. */
    List<String> statements(int version) {
        String script = NAME.matcher(read(path(version)).replaceAll("--[^\n]*", ""))
                .replaceAll(match -> Matcher.quoteReplacement(tables.qualified(match.group(1))));
        return Arrays.stream(script.split(";\\s*\n"))
                .map(String::strip)
                .filter(statement -> !statement.isEmpty())
                .toList();
    }

    private static String read(String path) {
        try (InputStream in = SchemaScripts.class.getClassLoader().getResourceAsStream(path)) {
            if (in == null) {
                throw new IllegalStateException("The script " + path + " is not in the jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
