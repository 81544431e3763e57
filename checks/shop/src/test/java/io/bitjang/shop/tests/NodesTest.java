// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.tests;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import io.bitjang.LockData;
import io.bitjang.shop.Shop;
import io.bitjang.shop.start.RunFile;
import io.bitjang.testkit.ChildJvm;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Scene 5: a job on many nodes, each a JVM of its own. */
@InShop.OnOne
class NodesTest extends NodesScene {
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
