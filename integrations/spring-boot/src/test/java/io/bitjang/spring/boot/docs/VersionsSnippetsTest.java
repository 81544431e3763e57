// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

import io.bitjang.jpa.AggregateLocks;
import io.bitjang.jpa.VersionToken;
import io.bitjang.spring.boot.BitjangAutoConfiguration;
import io.bitjang.spring.boot.BitjangHandlersAutoConfiguration;
import io.bitjang.spring.boot.BitjangJpaAutoConfiguration;
import io.bitjang.spring.boot.BitjangLockingAutoConfiguration;
import io.bitjang.spring.boot.BitjangWebAutoConfiguration;
import io.bitjang.spring.web.EditLockVersions;
import io.bitjang.spring.web.EditLocks;
import io.bitjang.spring.web.RequiresEditLock;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import jakarta.persistence.Version;
import java.security.Principal;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.stereotype.Controller;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.request.MockHttpServletRequestBuilder;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** What docs/aggregates.md shows of versions for edit locks, compiled and run. */
class VersionsSnippetsTest {

    private static final Principal KIM = () -> "kim";

    @Test
    void the_version_of_the_form_is_that_of_the_aggregate() {
        new WebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        DataSourceAutoConfiguration.class,
                        HibernateJpaAutoConfiguration.class,
                        TransactionAutoConfiguration.class,
                        WebMvcAutoConfiguration.class,
                        BitjangAutoConfiguration.class,
                        BitjangLockingAutoConfiguration.class,
                        BitjangJpaAutoConfiguration.class,
                        BitjangWebAutoConfiguration.class,
                        BitjangHandlersAutoConfiguration.class))
                .withUserConfiguration(Application.class)
                .withPropertyValues("bitjang.edit-locks.types=order")
                .run(context -> {
                    EntityManager entities = context.getBean(EntityManager.class);
                    TransactionTemplate transaction =
                            new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
                    transaction.executeWithoutResult(status -> entities.persist(new Order(42, "Seoul")));
                    MockMvc mvc = MockMvcBuilders.webAppContextSetup(context).build();
                    EditLocks editLocks = context.getBean(EditLocks.class);
                    String old = context.getBean(Pages.class).version(42);

                    mvc.perform(save(editLocks, old, "Jeju")).andExpect(status().is3xxRedirection());
                    mvc.perform(save(editLocks, old, "Busan")).andExpect(status().isPreconditionFailed());
                    mvc.perform(save(editLocks, context.getBean(Pages.class).version(42), "Busan"))
                            .andExpect(status().is3xxRedirection());

                    assertThat(entities.find(Order.class, 42L).city).isEqualTo("Busan");
                    VersionToken now = transaction.execute(
                            status -> context.getBean(AggregateLocks.class).versionOf(entities.find(Order.class, 42L)));
                    assertThat(now).isEqualTo(VersionToken.of(2L));
                });
    }

    private static MockHttpServletRequestBuilder save(EditLocks editLocks, String version, String city) {
        String lid = editLocks.open("order", "42", KIM, "tab-0001", null).id().value();
        return post("/orders/42")
                .principal(KIM)
                .param("lid", lid)
                .param("version", version)
                .param("city", city);
    }

    @Configuration(proxyBeanMethods = false)
    @EntityScan(basePackageClasses = VersionsSnippetsTest.class)
    @Import(Pages.class)
    static class Application {

        @Bean
        EditLockVersions editLockVersions(EntityManager entityManager) {
            return name -> Optional.ofNullable(entityManager.find(Order.class, Long.valueOf(name.id())))
                    .map(order -> VersionToken.of(order.version()).value());
        }
    }

    @Controller
    static class Pages {

        private final EntityManager entityManager;

        Pages(EntityManager entityManager) {
            this.entityManager = entityManager;
        }

        void form(Order order, Model model) {
            model.addAttribute("version", VersionToken.of(order.version()).value()); // the hidden field of the form
        }

        @PostMapping("/orders/{no}")
        @RequiresEditLock(type = "order", id = "{no}", version = true)
        String save(@PathVariable long no, @RequestParam String city) {
            entityManager.find(Order.class, no).moveTo(city); // its version was compared in this transaction
            return "redirect:/orders/" + no;
        }

        String version(long no) {
            org.springframework.ui.ConcurrentModel model = new org.springframework.ui.ConcurrentModel();
            form(entityManager.find(Order.class, no), model);
            return (String) model.get("version");
        }
    }

    @Entity
    @Table(name = "snippet_order")
    static class Order {

        @Id
        private long no;

        private String city;

        @Version
        private long version;

        protected Order() {}

        Order(long no, String city) {
            this.no = no;
            this.city = city;
        }

        long version() {
            return version;
        }

        void moveTo(String other) {
            city = other;
        }
    }
}
