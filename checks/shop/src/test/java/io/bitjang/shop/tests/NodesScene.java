// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.tests;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.FormData;
import com.microsoft.playwright.options.RequestOptions;
import io.bitjang.LockData;
import io.bitjang.LockName;
import io.bitjang.admin.LockAdmin;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Scene 5: a job on many nodes, each a JVM of its own. What the database has a say in. */
abstract class NodesScene extends InShop {

    /** Two JVMs start, which takes a busy machine longer than anything that happens in a page. */
    private static final double STARTING_MS = 90_000;

    static final LockName JOB = LockName.of("job", "settlement");

    @AfterEach
    void endNodes() {
        Page page = windowOf("operator");
        page.navigate("/nodes");
        List<?> pids = (List<?>) page.evaluate(
                "[...document.querySelectorAll(`form[action$='/kill'] [name=pid]`)].map((field) => field.value)");
        for (Object pid : pids) {
            act(page, "kill", String.valueOf(pid));
        }
        LockAdmin admin = stage.bean(LockAdmin.class);
        job().ifPresent(left -> admin.forceRelease(JOB, left.fence(), "the test", "all nodes have ended"));
    }

    @Test
    void one_node_works_and_when_it_is_killed_the_next_takes_over_with_a_larger_fence() {
        Page operator = windowOf("operator");
        Page customer = windowOf("customer");
        customer.navigate("/nodes");
        startTwo(operator);
        assertThat(customer.locator("button:has-text('Kill')")).hasCount(0);
        LockData first = job().orElseThrow();
        assertThat(operator.locator(".job")).containsText(first.owner() + " has the job, fence " + first.fence());
        Page locks = windowOf("operator");
        locks.navigate("/locks?type=job");
        assertThat(locks.locator("[data-lock='job/settlement'] td").nth(8)).hasText("another process");
        assertThat(locks.locator("[data-lock='job/settlement'] td").nth(5)).hasText(Pattern.compile("[0-9:]{8}"));

        operator.waitForCondition(() -> linesOf(first) >= 1);
        button(operator, "Kill", first.owner()).click();
        assertThat(node(customer, first.owner())).hasAttribute("data-state", "dead");
        LockData left =
                stage.bean(LockAdmin.class).find(JOB).orElseThrow(); // as the dead one left it, or passed on already
        LockData second = awaitNext(operator, first);
        assertThat(second.fence()).isGreaterThan(first.fence());
        assertThat(second.owner()).isNotEqualTo(first.owner());
        assertThat(second.acquiredAt())
                .isAfterOrEqualTo(left.fence() == first.fence() ? left.expiresAt() : first.expiresAt());
        assertThat(node(operator, second.owner())).hasAttribute("data-state", "working");
        assertThat(node(customer, second.owner())).hasAttribute("data-state", "working");
        operator.waitForCondition(() -> linesOf(second) >= 2);
        assertOneAtATime(first);
    }

    @Test
    void the_late_write_of_a_node_that_slept_past_its_lease_is_refused_by_the_guard_alone() {
        Page operator = windowOf("operator", new Browser.NewContextOptions().setViewportSize(1280, 900));
        startTwo(operator);
        LockData first = job().orElseThrow();
        pauseBetweenLines(operator, first);
        assertThat(node(operator, first.owner())).hasAttribute("data-state", "paused");
        LockData second = awaitNext(operator, first);
        assertThat(operator.locator("#guarded tbody tr:has-text('" + second.fence() + "')")
                        .first())
                .isVisible();

        button(operator, "Wake", first.owner()).click();
        String fence = ":has-text('" + first.fence() + "')";
        Locator refused = operator.locator("#guarded tr.refused" + fence);
        assertThat(refused).hasCount(1);
        assertThat(refused).containsText(first.owner());
        Locator stale = operator.locator("#plain tr.stale" + fence);
        assertThat(stale).hasCount(1);
        assertThat(stale).containsText("written, too late");
        assertThat(operator.locator("#guarded tr.stale" + fence)).hasCount(0);
        picture(operator, "nodes");
        assertThat(node(operator, first.owner())).hasAttribute("data-state", "waiting");
        assertThat(job().orElseThrow().fence()).isEqualTo(second.fence());
    }

    /**
     * It has just written, so its next line is most of a second away. On a busy machine the signal may come when it writes that: the
     * line is then in one book only, and it is woken, to be stopped after the next one. That repeats how the scene begins, and nothing
     * that is promised of it.
     */
    private void pauseBetweenLines(Page operator, LockData first) {
        String pid = node(operator, first.owner()).locator("[name=pid]").first().inputValue();
        while (true) {
            long lines = linesOf(first);
            operator.waitForCondition(() -> linesOf(first) > lines);
            act(operator, "pause", pid);
            if (linesOf(first, "plain") == linesOf(first)) {
                return;
            }
            act(operator, "wake", pid);
        }
    }

    private static void act(Page page, String what, String pid) {
        String token = page.locator("meta[name=_csrf]").getAttribute("content");
        page.request()
                .post(
                        "/nodes/act/" + what,
                        RequestOptions.create()
                                .setForm(FormData.create().set("_csrf", token).set("pid", pid)));
    }

    void startTwo(Page operator) {
        operator.navigate("/nodes");
        for (int i = 1; i <= 2; i++) {
            operator.click("#start-node");
        }
        // a node that failed to start says why, and nobody need wait for it
        Locator nodes = operator.locator("[data-node]:not([data-state=dead])");
        Locator failed = operator.locator("#failed p");
        operator.waitForCondition(
                () -> nodes.count() == 2 || failed.count() > 0,
                new Page.WaitForConditionOptions().setTimeout(STARTING_MS));
        assertThat(failed.allTextContents()).isEmpty();
        assertThat(operator.locator("[data-state=working]")).hasCount(1);
        assertThat(operator.locator("[data-state=waiting]")).hasCount(1);
        assertThat(operator.locator("#guarded tbody tr .num").first()).hasText(Pattern.compile("\\d+"));
    }

    /** What was written under a grant, with the guard. */
    long linesOf(LockData grant) {
        return linesOf(grant, "guarded");
    }

    private long linesOf(LockData grant, String book) {
        return stage.bean(JdbcClient.class)
                .sql("SELECT COUNT(*) FROM shop_ledger WHERE book = ? AND refused IS NULL AND fence = ?")
                .param(book)
                .param(grant.fence())
                .query(Long.class)
                .single();
    }

    /** Since this grant: a node for each grant, and each line written once, in both books, for nobody slept. */
    void assertOneAtATime(LockData since) {
        List<String> written = stage.bean(JdbcClient.class)
                .sql("SELECT book, line, node, fence FROM shop_ledger WHERE fence >= ? ORDER BY at_ms")
                .param(since.fence())
                .query((row, number) ->
                        row.getString(1) + " " + row.getLong(2) + " " + row.getString(3) + " " + row.getLong(4))
                .list();
        assertThat(written).hasSizeGreaterThan(5);
        assertThat(written.stream().map(each -> each.replaceFirst(" node-.*", "")))
                .doesNotHaveDuplicates();
        assertThat(written.stream()
                        .map(each -> each.replaceFirst(".*(node-\\d+ )", "$1"))
                        .distinct()
                        .map(each -> each.split(" ")[1]))
                .doesNotHaveDuplicates();
    }

    Optional<LockData> job() {
        return stage.bean(LockAdmin.class).find(JOB).filter(LockData::held);
    }

    /** The grant after this one. */
    LockData awaitNext(Page page, LockData grant) {
        AtomicReference<LockData> next = new AtomicReference<>();
        page.waitForCondition(() -> {
            job().filter(now -> now.fence() > grant.fence()).ifPresent(next::set);
            return next.get() != null;
        });
        return next.get();
    }

    static Locator node(Page page, String name) {
        return page.locator("[data-node='" + name + "']");
    }

    static Locator button(Page page, String what, String node) {
        return node(page, node).locator("button:has-text('" + what + "')");
    }
}
