// SPDX-License-Identifier: Apache-2.0
package io.bitjang.documents;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the documents show is what the code does, and their links lead somewhere. */
class DocumentsTest {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent().getParent();
    private static final List<Path> SNIPPETS = snippets();
    private static final List<String> SOURCES = sources();
    private static final Path SCRIPTS = ROOT.resolve("core/src/main/resources/io/bitjang/schema");
    private static final Pattern JAVA_BLOCK =
            Pattern.compile("^```java\\n(.*?)^```", Pattern.MULTILINE | Pattern.DOTALL);
    private static final Pattern ANY_BLOCK = Pattern.compile("^```.*?^```", Pattern.MULTILINE | Pattern.DOTALL);
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
    private static final Pattern TEST = Pattern.compile("\\[`\\w+\\.(\\w+)`\\]\\(([^)]+)\\)");
    private static final Pattern WHOLE = Pattern.compile("`[^`]*`|\\[[^\\]]*\\]\\([^)]*\\)");
    private static final Pattern BEFORE_THE_TEXT = Pattern.compile("^\\s*(([-*+>]|\\d+\\.)\\s+)*");
    private static final Pattern IMPORT = Pattern.compile("^import [^;]+;$", Pattern.MULTILINE);
    private static final Pattern PACKAGE = Pattern.compile("^package ([^;]+);$", Pattern.MULTILINE);
    private static final Pattern TYPE = Pattern.compile("\\b\\p{Upper}\\w*\\b");
    private static final Pattern MEMBER = Pattern.compile("`(\\p{Upper}\\w*)\\.((?:\\w+\\.)*)(\\w+)(?:\\([^`]*\\))?`");
    private static final int LINE = 120;
    private static final Pattern HEADING = Pattern.compile("^#+ (.*)$", Pattern.MULTILINE);

    @Test
    void every_snippet_is_compiled_and_run() {
        String compiled =
                SNIPPETS.stream().map(each -> withoutLayout(read(each))).collect(Collectors.joining());
        List<String> snippets = new ArrayList<>();
        for (Path document : documents()) {
            JAVA_BLOCK
                    .matcher(read(document))
                    .results()
                    .map(found -> found.group(1))
                    .forEach(snippets::add);
        }
        assertThat(snippets).hasSizeGreaterThan(10);
        assertThat(snippets)
                .filteredOn(snippet ->
                        !compiled.contains(withoutLayout(IMPORT.matcher(snippet).replaceAll(""))))
                .as("snippets that are in none of " + SNIPPETS)
                .isEmpty();
    }

    /** A name that moved on leaves a reader with nothing to look for. */
    @Test
    void every_member_that_a_page_names_is_in_the_source_of_its_class() throws IOException {
        Map<String, String> sources;
        try (Stream<Path> files = Files.walk(ROOT)) {
            sources = files.filter(each -> each.toString().endsWith(".java")
                            && !each.toString().contains("/target/"))
                    .collect(Collectors.toMap(
                            each -> each.getFileName().toString().replace(".java", ""),
                            DocumentsTest::read,
                            String::concat));
        }
        List<String> unknown = new ArrayList<>();
        int known = 0;
        for (Path document : documents()) {
            for (MatchResult found : MEMBER.matcher(read(document)).results().toList()) {
                String source = sources.get(found.group(1));
                if (source == null || found.group(3).equals("java")) {
                    continue; // of another library, or a file
                }
                known++;
                if (!Pattern.compile("\\b" + found.group(3) + "\\b")
                        .matcher(source)
                        .find()) {
                    unknown.add(ROOT.relativize(document) + ": " + found.group());
                }
            }
        }
        assertThat(known).isGreaterThan(250);
        assertThat(unknown).isEmpty();
    }

    /** A snippet shows those of its imports that a reader would have to guess; the compiled one has more of them. */
    @Test
    void every_import_of_a_snippet_is_compiled() {
        Set<String> compiled = SNIPPETS.stream()
                .map(DocumentsTest::read)
                .flatMap(each -> Stream.concat(imports(each), ofItsPackage(each)))
                .collect(Collectors.toSet());
        List<String> unknown = new ArrayList<>();
        for (Path document : documents()) {
            JAVA_BLOCK
                    .matcher(read(document))
                    .results()
                    .flatMap(block -> imports(block.group(1)))
                    .filter(each -> !compiled.contains(each))
                    .forEach(each -> unknown.add(ROOT.relativize(document) + ": " + each));
        }
        assertThat(unknown).isEmpty();
    }

    private static Stream<String> imports(String code) {
        return IMPORT.matcher(code).results().map(MatchResult::group);
    }

    /** What a test names without importing it, because it is in the same package, as an import that a reader needs. */
    private static Stream<String> ofItsPackage(String code) {
        Matcher declared = PACKAGE.matcher(code);
        assertThat(declared.find()).isTrue();
        String folder = "/" + declared.group(1).replace('.', '/') + "/";
        return TYPE.matcher(code)
                .results()
                .map(MatchResult::group)
                .distinct()
                .filter(type -> SOURCES.stream().anyMatch(source -> source.endsWith(folder + type + ".java")))
                .map(type -> "import " + declared.group(1) + "." + type + ";");
    }

    @ParameterizedTest
    @ValueSource(strings = {"h2", "mariadb", "mysql", "postgresql"})
    void the_page_of_a_database_shows_its_script(String database) {
        assertThat(read(ROOT.resolve("docs/databases/" + database + ".md")))
                .contains("```sql\n" + read(SCRIPTS.resolve(database + "/V1__bitjang.sql")) + "```");
    }

    @Test
    void the_pages_of_the_databases_have_one_outline() {
        List<List<String>> outlines = Stream.of("h2", "mariadb", "mysql", "postgresql")
                .map(database -> headings(ROOT.resolve("docs/databases/" + database + ".md")))
                .map(headings -> headings.subList(1, headings.size()))
                .distinct()
                .toList();
        assertThat(outlines).hasSize(1);
    }

    @Test
    void every_link_leads_somewhere() {
        List<String> broken = new ArrayList<>();
        for (Path document : documents()) {
            String text = ANY_BLOCK.matcher(read(document)).replaceAll("");
            LINK.matcher(text)
                    .results()
                    .map(found -> found.group(1))
                    .filter(link -> !leadsSomewhere(document, link))
                    .forEach(link -> broken.add(ROOT.relativize(document) + " -> " + link));
        }
        assertThat(broken).isEmpty();
    }

    @Test
    void every_promise_names_tests_that_exist() {
        Path guarantees = ROOT.resolve("docs/guarantees.md");
        List<MatchResult> tests = TEST.matcher(read(guarantees)).results().toList();
        assertThat(tests).hasSizeGreaterThan(10);
        assertThat(tests)
                .filteredOn(
                        test -> !read(guarantees.resolveSibling(test.group(2))).contains(" " + test.group(1) + "("))
                .extracting(test -> test.group(1))
                .as("methods that are not in the class that is linked")
                .isEmpty();
    }

    @Test
    void no_line_of_prose_is_longer_than_120_characters() {
        List<String> tooLong = new ArrayList<>();
        for (Path document : documents()) {
            String text = ANY_BLOCK.matcher(read(document)).replaceAll(block -> emptyLines(block.group()));
            List<String> lines = text.lines().toList();
            for (int i = 0; i < lines.size(); i++) {
                if (isTooLong(lines.get(i))) {
                    tooLong.add(ROOT.relativize(document) + ":" + (i + 1));
                }
            }
        }
        assertThat(tooLong).isEmpty();
    }

    /** A table is not prose, and what has no blank outside of links and code can't be broken. */
    private static boolean isTooLong(String line) {
        String text = BEFORE_THE_TEXT.matcher(line).replaceFirst("");
        return line.codePointCount(0, line.length()) > LINE
                && !text.startsWith("|")
                && WHOLE.matcher(text).replaceAll("whole").strip().contains(" ");
    }

    private static String emptyLines(String block) {
        return block.replaceAll("[^\\n]", "");
    }

    private static boolean leadsSomewhere(Path document, String link) {
        String[] parts = link.split("#", 2);
        Path target = parts[0].isEmpty() ? document : document.resolveSibling(parts[0]);
        return Files.exists(target) && (parts.length == 1 || anchors(target).contains(parts[1]));
    }

    private static Set<String> anchors(Path document) {
        return headings(document).stream()
                .map(heading -> heading.strip()
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\p{L}\\p{N}\\- _]", "")
                        .replace(' ', '-'))
                .collect(Collectors.toSet());
    }

    private static List<String> headings(Path document) {
        String text = ANY_BLOCK.matcher(read(document)).replaceAll("");
        return HEADING.matcher(text)
                .results()
                .map((MatchResult found) -> found.group(1))
                .toList();
    }

    /** The tests of every module whose name says that they hold snippets. */
    private static List<Path> snippets() {
        try (Stream<Path> files = Files.walk(ROOT)) {
            return files.filter(file -> file.toString().matches(".*/src/test/java/.*SnippetsTest\\.java"))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The classes of all modules that a user's code may import. */
    private static List<String> sources() {
        try (Stream<Path> files = Files.walk(ROOT)) {
            return files.map(Path::toString)
                    .filter(file -> file.matches(".*/src/main/java/.*\\.java"))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<Path> documents() {
        try (Stream<Path> top = Files.list(ROOT);
                Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
            return Stream.concat(top, docs)
                    .filter(file -> file.toString().endsWith(".md"))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Comments may be in another language, and the formatter may break lines elsewhere. */
    private static String withoutLayout(String code) {
        return code.replaceAll("//[^\\n]*", "").replaceAll("\\s+", "");
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
