// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.LockData;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.spi.LockListener;
import io.bitjang.spring.TransactionalLockManager;
import io.bitjang.testkit.TestDatabases;
import java.security.Principal;
import java.time.Duration;
import java.util.Set;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.mock.web.MockServletContext;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.authority.AuthorityUtils;
import org.springframework.stereotype.Controller;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.ui.Model;
import org.springframework.validation.BindingResult;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.context.support.AnnotationConfigWebApplicationContext;
import org.springframework.web.servlet.View;
import org.springframework.web.servlet.ViewResolver;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;
import org.springframework.web.servlet.view.RedirectView;

/** The snippets of the page about edit locks, which run. */
class EditLockSnippetsTest {

    private static HikariDataSource pool;
    private static EditServer server;

    @Configuration
    @EnableWebMvc
    @Import(EditLockConfiguration.class)
    static class WebConfiguration {

        @Bean
        Locks locks(DataSource dataSource, ObjectProvider<LockListener> listeners) {
            Locks.Builder builder = Locks.builder(dataSource);
            listeners.forEach(builder::listener);
            return builder.build();
        }

        @Bean
        TransactionalLockManager lockManager(Locks locks, DataSource dataSource) {
            return new TransactionalLockManager(locks.manager(), dataSource);
        }

        @Bean
        PlatformTransactionManager transactionManager(DataSource dataSource) {
            return new DataSourceTransactionManager(dataSource);
        }

        @Bean
        EditLockSettings editLockSettings() {
            return EditLockSettings.ofTypes("order", "customer").withLease(Duration.ofMinutes(5));
        }
    }

    @Controller
    static class OrderPages {

        private final EditLocks editLocks;
        private final OrderTable orders;

        OrderPages(EditLocks editLocks, OrderTable orders) {
            this.editLocks = editLocks;
            this.orders = orders;
        }

        @PostMapping("/orders/{no}/edit")
        String open(@PathVariable String no, @RequestParam(defaultValue = "") String clientId, Principal person) {
            String tab = clientId.isEmpty() ? UUID.randomUUID().toString() : clientId;
            editLocks.open("order", no, person, tab, null);
            return "redirect:/orders/" + no + "/edit?tab=" + tab;
        }

        @GetMapping("/orders/{no}/edit")
        String form(@PathVariable String no, @RequestParam String tab, Principal person, Model model) {
            EditLocks.Held held = editLocks.resume("order", no, person, tab);
            model.addAttribute("lid", held.id().value());
            model.addAttribute("form", orders.read(no));
            return "orders/edit";
        }

        @PostMapping("/orders/{no}")
        @RequiresEditLock(type = "order", id = "{no}", acceptLapsed = true)
        String save(@PathVariable String no, @ModelAttribute("form") OrderForm form, BindingResult errors) {
            if (errors.hasErrors()) {
                return "orders/edit"; // the lock stays, the lid too
            }
            orders.write(no, form);
            return "redirect:/orders/" + no;
        }

        @PostMapping("/orders/{no}/draft")
        @RequiresEditLock(type = "order", id = "{no}")
        String saveDraft(@PathVariable String no, @ModelAttribute("form") OrderForm form, EditLock lock, Model model) {
            orders.write(no, form);
            lock.keep();
            model.addAttribute("lid", lock.id().value());
            return "orders/edit";
        }
    }

    /** A form. */
    public record OrderForm(int amount) {}

    /** The business. */
    record OrderTable(JdbcTemplate jdbc) {

        OrderForm read(String no) {
            return new OrderForm(jdbc.queryForList("SELECT amount FROM snippet_order WHERE no = ?", Integer.class, no)
                    .get(0));
        }

        void write(String no, OrderForm form) {
            jdbc.update("UPDATE snippet_order SET amount = ?, version = version + 1 WHERE no = ?", form.amount(), no);
        }
    }

    static class Beans {

        @Bean
        EditLockPolicy editLockPolicy() {
            return new EditLockPolicy() {
                @Override
                public boolean mayEdit(Principal person, LockName name) {
                    return Set.of("order", "customer").contains(name.type());
                }

                @Override
                public boolean mayTakeOver(Principal person, LockData held) {
                    return person.getName().equals(held.owner())
                            || (person instanceof Authentication user
                                    && AuthorityUtils.authorityListToSet(user.getAuthorities())
                                            .contains("ROLE_BOSS"));
                }
            };
        }

        @Bean
        EditLockVersions editLockVersions(JdbcTemplate jdbc) {
            return name ->
                    jdbc
                            .queryForList("SELECT version FROM snippet_order WHERE no = ?", String.class, name.id())
                            .stream()
                            .findFirst();
        }
    }

    static class Application extends Beans {

        @Bean
        OrderPages pages(EditLocks locks, JdbcTemplate jdbc) {
            return new OrderPages(locks, new OrderTable(jdbc));
        }

        /** A page that shows its model. */
        @Bean
        ViewResolver views() {
            View page = (model, request, response) ->
                    response.getWriter().write(model.get("lid") + " " + model.get("form"));
            return (name, locale) -> name.startsWith("redirect:") ? new RedirectView(name.substring(9)) : page;
        }
    }

    @BeforeAll
    static void start() {
        TestDatabases.h2()
                .execute(
                        "CREATE TABLE IF NOT EXISTS snippet_order (no VARCHAR(40) PRIMARY KEY, amount INT, version INT)");
        pool = TestDatabases.h2().pool(5);
        server = new EditServer(pool, Locks.builder(pool), EditLockSettings.ofTypes("order"), Application.class);
    }

    @AfterAll
    static void stop() {
        server.close();
        pool.close();
    }

    private static Person.Answer post(Person person, String path, String form) {
        return person.send("POST", path, form, "Content-Type", "application/x-www-form-urlencoded");
    }

    @Test
    void page_without_javascript_opens_resumes_and_saves() {
        String no = UUID.randomUUID().toString();
        TestDatabases.h2().execute("INSERT INTO snippet_order VALUES ('" + no + "', 1, 1)");
        Person kim = server.person("kim");

        Person.Answer opened = post(kim, "//orders/" + no + "/edit", "").is(302);
        String editor = "/" + opened.header("location").replaceFirst("^http://[^/]*", "");
        Person.Answer form = kim.get(editor).is(200);
        assertThat(form.text()).endsWith(" OrderForm[amount=1]");
        String lid = kim.get(editor).is(200).text().split(" ")[0]; // a reload

        assertThat(post(server.person("lee"), "//orders/" + no + "/edit", "")
                        .isProblem(423, "held")
                        .json())
                .containsEntry("owner", "kim");
        post(kim, "//orders/" + no, "amount=many&lid=" + lid).is(200);
        assertThat(post(kim, "//orders/" + no + "/draft", "amount=2&lid=" + lid)
                        .is(200)
                        .text())
                .startsWith(lid);
        post(kim, "//orders/" + no, "amount=3&lid=" + lid).is(302);
        assertThat(new JdbcTemplate(pool)
                        .queryForObject("SELECT amount FROM snippet_order WHERE no = ?", Integer.class, no))
                .isEqualTo(3);
        kim.get(editor).isProblem(410, "lapsed");
        post(server.person("lee"), "//orders/" + no + "/edit", "").is(302);
    }

    @Test
    void boss_takes_over() {
        String lock = "/order/" + UUID.randomUUID();
        long fence = server.person("kim").take(lock, "tab-0001").fence();
        server.person("lee").takeOver(lock, fence, "tab-0001").isProblem(403, "denied");
        server.person("boss").takeOver(lock, fence, "tab-0001").is(201);
    }

    @Test
    void plain_spring_needs_a_few_beans() {
        try (AnnotationConfigWebApplicationContext context = new AnnotationConfigWebApplicationContext()) {
            context.setServletContext(new MockServletContext());
            context.addBeanFactoryPostProcessor(factory -> factory.registerSingleton("dataSource", pool));
            context.register(WebConfiguration.class);
            context.refresh();
            EditLocks editLocks = context.getBean(EditLocks.class);
            assertThat(editLocks
                            .open("customer", UUID.randomUUID().toString(), () -> "kim", "tab-0001", null)
                            .expiresIn())
                    .isEqualTo(Duration.ofMinutes(5));
        }
    }
}
