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
    static final Path ROOT = Path.of("").toAbsolutePath().getParent().getParent();
    static final Path CORE_SOURCES = ROOT.resolve("core/src/main/java");

    private Modules() {}

    static JavaClasses core() {
        return compiled("core/target/classes");
    }

    static JavaClasses jpa() {
        return compiled("integrations/jpa/target/classes");
    }

    /** The main classes of the module with this name. */
    static JavaClasses of(String module) {
        return compiled(module + "/target/classes");
    }

    static JavaClasses testkit() {
        return compiled("testkit/target/classes");
    }

    /** The contracts together with the classes that run them on the databases. */
    static JavaClasses contractsAndTheirTests() {
        return compiled("testkit/target/classes", "checks/contracts/target/test-classes");
    }

    static JavaClasses allTests() {
        return new ClassFileImporter()
                .importPaths(Stream.concat(
                                modules().stream()
                                        .filter(module -> Files.isDirectory(module.resolve("src/test/java")))
                                        .map(module -> existing(module + "/target/test-classes")),
                                Stream.of(existing("testkit/target/classes")))
                        .toList());
    }

    static Path descriptorOfCore() {
        return existing("core/target/classes").resolve("module-info.class");
    }

    /** The folders of all modules that have code: at the root, or one folder below it. */
    static List<Path> modules() {
        try (Stream<Path> folders = Files.find(
                ROOT, 2, (path, attributes) -> attributes.isDirectory() && Files.isDirectory(path.resolve("src")))) {
            return folders.filter(folder -> Files.exists(folder.resolve("pom.xml")))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Every file of Java or JavaScript of every module, tests too. */
    static List<Path> sourceFiles() {
        return modules().stream()
                .flatMap(module -> sourceFilesIn(module.resolve("src")).stream())
                .toList();
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
