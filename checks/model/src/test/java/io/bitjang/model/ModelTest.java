// SPDX-License-Identifier: Apache-2.0
package io.bitjang.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import edu.mit.csail.sdg.ast.Command;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The model says of each of its commands whether a story must be found. In the ordinary build the larger ones ({@code Soak}) are left
 * out; with {@code bitjang.soak=true} they take five to ten minutes.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ModelTest {

    private static final boolean SOAK = Boolean.getBoolean("bitjang.soak");
    private static final int MOST_LINES = 300;
    private static final Pattern NAME_OF_A_COUNTER_EXAMPLE = Pattern.compile("Without[A-Z]\\w+");
    private static final Path PAGE = Path.of("../../docs/model.md");

    private final Checker checker = new Checker();

    private Stream<String> labels() {
        return checker.commands().stream().map(each -> each.label).filter(label -> SOAK || !label.startsWith("Soak"));
    }

    private Command command(String label) {
        return checker.commands().stream()
                .filter(each -> each.label.equals(label))
                .findFirst()
                .orElseThrow(() -> new AssertionError("The model has no command " + label));
    }

    @ParameterizedTest
    @MethodSource("labels")
    void checker_finds_a_story_where_there_must_be_one_and_none_where_there_must_be_none(String label) {
        Command command = command(label);
        Optional<Trace> story = checker.story(command);
        assertThat(command.expects).as("what %s expects", label).isBetween(0, 1);
        if (command.expects == 0 && story.isPresent()) {
            fail(label + " does not hold:\n\n" + story.get());
        }
        if (command.expects == 1 && story.isEmpty()) {
            fail(label + " finds no story: " + (command.check ? "it holds without the rule" : "it can't happen"));
        }
    }

    @Test
    void each_rule_is_left_out_once_and_then_a_property_breaks() {
        assertThat(checker.rules()).hasSizeGreaterThanOrEqualTo(16).allSatisfy(rule -> {
            Command command = command("Without" + rule);
            assertThat(command.check).isTrue();
            assertThat(command.formula.toString()).contains("this/less[this/" + rule + "]");
            assertThat(checker.story(command))
                    .hasValueSatisfying(story -> assertThat(story.toString()).contains("<- breaks "));
        });
    }

    @Test
    void everything_that_can_happen_happens_although_all_rules_are_in_force() {
        List<String> happened = checker.commands().stream()
                .filter(command -> !command.check)
                .flatMap(command -> checker.story(command).stream())
                .flatMap(story -> story.events().stream())
                .distinct()
                .toList();
        assertThat(checker.events()).filteredOn(event -> !event.equals("Rest")).isSubsetOf(happened);
    }

    @Test
    void model_can_be_read() throws IOException {
        assertThat(Files.readAllLines(Checker.MODEL)).hasSizeLessThanOrEqualTo(MOST_LINES);
    }

    @Test
    void page_explains_every_rule_and_every_property_and_every_event() throws IOException {
        String page = Files.readString(PAGE);
        assertThat(Stream.of(checker.rules(), checker.properties(), checker.events())
                        .flatMap(List::stream)
                        .filter(name -> !page.contains("`" + name + "`")))
                .as("names that docs/model.md does not explain")
                .isEmpty();
        assertThat(NAME_OF_A_COUNTER_EXAMPLE.matcher(page).results().map(MatchResult::group))
                .as("commands that docs/model.md shows")
                .hasSizeGreaterThan(4)
                .isSubsetOf(checker.commands().stream().map(each -> each.label).toList());
    }
}
