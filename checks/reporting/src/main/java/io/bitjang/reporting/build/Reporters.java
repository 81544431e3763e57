// SPDX-License-Identifier: Apache-2.0
package io.bitjang.reporting.build;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The classes by which the tests of every module report. They are on the class path of all, and no module depends on them, so that
 * one module can be built alone; therefore they are compiled before the modules are.
 */
final class Reporters {

    private static final String MODULE = "checks/reporting";

    private final Path project;
    private final Path sources;
    private final Path compiled;

    Reporters(Path root) {
        this.project = root.resolve("pom.xml");
        this.sources = root.resolve(MODULE + "/src/main/java");
        this.compiled = root.resolve(MODULE + "/target/classes/io/bitjang/reporting/Journal.class");
    }

    boolean areThere() throws IOException {
        if (!Files.exists(sources)) {
            return true;
        }
        if (!Files.exists(compiled)) {
            return false;
        }
        FileTime time = Files.getLastModifiedTime(compiled);
        try (Stream<Path> files = Files.find(
                sources,
                20,
                (file, attributes) -> attributes.isRegularFile()
                        && attributes.lastModifiedTime().compareTo(time) > 0)) {
            return files.findAny().isEmpty();
        }
    }

    /**
     * Maven's command line that compiles them, with the settings of this one: where Maven's repository is, and the like. It names the
     * whole project, because this one may have been started in a module's folder.
     */
    List<String> making(List<String> command) {
        List<String> making = new ArrayList<>(List.of(command.get(0)));
        for (int i = 1; i < command.size(); i++) {
            String argument = command.get(i);
            if (argument.matches("-s|-gs|--settings|--global-settings|-t|--toolchains") && i + 1 < command.size()) {
                making.add(argument);
                making.add(command.get(++i));
            } else if (argument.matches(
                    "-D.+|-o|--offline|-B|--batch-mode|-ntp|--no-transfer-progress|-U|--.+settings=.+")) {
                making.add(argument);
            }
        }
        making.addAll(List.of("-f", project.toString(), "compile", "-pl", ":bitjang-test-reporting"));
        return making;
    }
}
