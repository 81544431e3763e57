// SPDX-License-Identifier: Apache-2.0
package io.bitjang.model;

import edu.mit.csail.sdg.alloy4.A4Reporter;
import edu.mit.csail.sdg.ast.Command;
import edu.mit.csail.sdg.ast.Func;
import edu.mit.csail.sdg.ast.Sig;
import edu.mit.csail.sdg.parser.CompModule;
import edu.mit.csail.sdg.parser.CompUtil;
import edu.mit.csail.sdg.translator.A4Options;
import edu.mit.csail.sdg.translator.A4Solution;
import edu.mit.csail.sdg.translator.TranslateAlloyToKodkod;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Alloy, with its solver in pure Java, on the model. Each command is run once; what it found goes to a file. Not thread-safe. */
final class Checker {

    static final Path MODEL = Path.of("src/test/alloy/protocol.als").toAbsolutePath();
    private static final Path TRACES = Path.of("target/traces").toAbsolutePath();

    /** Predicates with a capital that are not properties: all of them together, and why they are true. */
    private static final Set<String> NOT_PROPERTIES = Set.of("Safe", "Kept", "Timely");

    private final CompModule model = CompUtil.parseEverything_fromFile(A4Reporter.NOP, null, MODEL.toString());
    private final Map<Command, Optional<Trace>> found = new HashMap<>();

    List<Command> commands() {
        return model.getAllCommands();
    }

    /** A story that the command is about: a counter-example of a check, an example of a run. */
    Optional<Trace> story(Command command) {
        return found.computeIfAbsent(command, this::search);
    }

    private Optional<Trace> search(Command command) {
        A4Options options = new A4Options();
        // looks for fields that are constant, which takes longer here than all the rest
        options.inferPartialInstance = false;
        A4Solution solution =
                TranslateAlloyToKodkod.execute_command(A4Reporter.NOP, model.getAllReachableSigs(), command, options);
        if (!solution.satisfiable()) {
            return Optional.empty();
        }
        Trace trace = new Trace(model, solution, command, properties());
        try {
            Files.createDirectories(TRACES);
            Files.writeString(TRACES.resolve(command.label + ".txt"), trace.toString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return Optional.of(trace);
    }

    /** What must be true: the predicates that begin with a capital. */
    List<String> properties() {
        return model.getAllFunc().makeConstList().stream()
                .map((Func each) -> each.label.replace("this/", ""))
                .filter(name -> Character.isUpperCase(name.charAt(0)) && !NOT_PROPERTIES.contains(name))
                .toList();
    }

    List<String> rules() {
        return childrenOf("Rule");
    }

    List<String> events() {
        return childrenOf("Event");
    }

    private List<String> childrenOf(String parent) {
        return model.getAllReachableSigs().stream()
                .filter(each -> each instanceof Sig.PrimSig one
                        && one.parent != null
                        && one.parent.label.equals("this/" + parent))
                .map(each -> each.label.replace("this/", ""))
                .toList();
    }
}
