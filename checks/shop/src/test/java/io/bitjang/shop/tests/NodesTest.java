// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.tests;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import io.bitjang.LockData;
import io.bitjang.shop.Shop;
import io.bitjang.shop.start.RunFile;
import io.bitjang.testkit.ChildJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Scene 5: a job on many nodes, each a JVM of its own. */
@InShop.OnOne
class NodesTest extends NodesScene {
    @Test
    void a_node_that_can_not_start_says_why_in_the_page_and_in_the_log() throws IOException {
        Page operator = windowOf("operator");
        operator.navigate("/nodes");
        Path runFile = ShopStage.runFile(database);
        String good = Files.readString(runFile);
        Logger logger = (Logger) LoggerFactory.getLogger("io.bitjang.shop.nodes.Nodes");
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.list = new CopyOnWriteArrayList<>();
        log.start();
        logger.addAppender(log);
        Locator failed = operator.locator("#failed p");
        try {
            Files.writeString(runFile, "url=jdbc:h2:tcp://127.0.0.1:1/mem:nowhere\nuser=\npassword=\n");
            operator.click("#start-node");
            assertThat(failed)
                    .hasText(Pattern.compile("The node of process \\d+ has ended, with exit code 2, saying "
                            + "The shop's database does not answer: .*refused.*"));
        } finally {
            Files.writeString(runFile, good);
            logger.detachAppender(log);
        }
        assertThat(log.list).extracting(ILoggingEvent::getFormattedMessage).containsExactly(failed.textContent());
        startTwo(operator); // and what was said is gone
    }

    @Test
    void a_node_from_the_command_line_works_too_and_no_two_write_the_same_line() {
        Page operator = windowOf("operator");
        operator.navigate("/nodes");
        try (ChildJvm node = ChildJvm.of(Shop.class)
                .property(RunFile.PROPERTY, ShopStage.runFile(database).toString())
                .args("node")
                .start()) {
            String hello = node.readLineStartingWith("node-", Duration.ofSeconds(30));
            assertThat(hello).contains("is here, process " + node.pid());
            String name = hello.split(" ")[0];
            assertThat(node(operator, name)).hasAttribute("data-state", "working");
            assertThat(node(operator, name).locator("code")).hasText(new String[] {
                "kill -9 " + node.pid(), "kill -STOP " + node.pid(), "kill -CONT " + node.pid()
            });
            assertThat(button(operator, "Kill", name)).hasCount(0); // it is not the shop's own
            LockData first = job().orElseThrow();
            operator.click("#start-node"); // one more, who would write if it could
            assertThat(operator.locator("[data-state=waiting]")).hasCount(1);
            operator.waitForCondition(() -> linesOf(first) >= 3);
            assertOneAtATime(first);
        }
    }
}
