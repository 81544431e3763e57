// SPDX-License-Identifier: Apache-2.0
package io.bitjang.architecture;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Where the modules lie, seen from this one, and what was compiled from them. */
final class Modules {
    static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    static final Path CORE_SOURCES = ROOT.resolve("bitjang-core/src/main/java");

    private Modules() {}

    static JavaClasses core() {
        return compiled("bitjang-core/target/classes");
    }

    static JavaClasses jpa() {
        return compiled("bitjang-jpa/target/classes");
    }

    /** The main classes of the module with this name. */
    static JavaClasses of(String module) {
        return compiled(module + "/target/classes");
    }

    static JavaClasses testkit() {
        return compiled("bitjang-testkit/target/classes");
    }

    /** The testkit together with its tests. */
    static JavaClasses testkitAndItsTests() {
        return compiled("bitjang-testkit/target/classes", "bitjang-testkit/target/test-classes");
    }

    static JavaClasses allTests() {
        return compiled(
                "bitjang-core/target/test-classes",
                "bitjang-testkit/target/classes",
                "bitjang-testkit/target/test-classes",
                "bitjang-jpa/target/test-classes",
                "bitjang-spring/target/test-classes",
                "bitjang-spring-boot/target/test-classes",
                "bitjang-spring-boot-starter/target/test-classes",
                "bitjang-shedlock/target/test-classes",
                "bitjang-spring-integration/target/test-classes",
                "browser-tests/target/test-classes",
                "shop-tests/target/test-classes",
                "architecture-tests/target/test-classes");
    }

    static Path descriptorOfCore() {
        return existing("bitjang-core/target/classes").resolve("module-info.class");
    }

    /** Every file of Java or JavaScript of every module, tests too. */
    static List<Path> sourceFiles() {
        try (Stream<Path> modules = Files.list(ROOT)) {
            return modules.filter(module -> Files.exists(module.resolve("pom.xml")))
                    .map(module -> module.resolve("src"))
                    .filter(Files::isDirectory)
                    .flatMap(sources -> sourceFilesIn(sources).stream())
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<Path> sourceFilesIn(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().matches(".*\\.(java|js)"))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<String> linesOf(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static JavaClasses compiled(String... folders) {
        return new ClassFileImporter()
                .importPaths(Stream.of(folders).map(Modules::existing).toList());
    }

    private static Path existing(String folder) {
        Path path = ROOT.resolve(folder);
        if (!Files.isDirectory(path)) {
            throw new IllegalStateException(path + " is missing: build all modules, with ./mvnw verify");
        }
        return path;
    }
}
