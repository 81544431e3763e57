// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

import io.bitjang.spring.web.EditLocks;
import io.bitjang.spring.web.RequiresEditLock;
import java.security.Principal;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.jdbc.test.autoconfigure.AutoConfigureJdbc;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.stereotype.Controller;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.TestContextManager;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;

/** In a test of the web layer alone, a handler is guarded too, or the test does not start. */
class WebLayerTest {

    @SpringBootConfiguration
    static class Application {}

    @Controller
    static class Pages {

        @PostMapping("/orders/{no}")
        @RequiresEditLock(type = "order", id = "{no}")
        String save(@PathVariable String no) {
            return "redirect:/orders/" + no;
        }
    }

    @Controller
    static class OtherPages {

        @PostMapping("/customers/{no}")
        String save(@PathVariable String no) {
            return "redirect:/customers/" + no;
        }
    }

    @WebMvcTest(Pages.class)
    @ContextConfiguration(classes = Application.class)
    @Import(Pages.class)
    static class WithoutLocks {}

    @WebMvcTest(OtherPages.class)
    @ContextConfiguration(classes = Application.class)
    @AutoConfigureMockMvc(addFilters = false)
    @Import(OtherPages.class)
    static class WithoutGuardedHandlers {}

    @WebMvcTest(
            controllers = Pages.class,
            properties = {
                "bitjang.edit-locks.types=order",
                "spring.liquibase.enabled=false",
                "spring.flyway.enabled=false",
                "spring.datasource.url=jdbc:h2:mem:web-layer;DB_CLOSE_DELAY=-1"
            })
    @ContextConfiguration(classes = Application.class)
    @AutoConfigureMockMvc(addFilters = false)
    @AutoConfigureJdbc
    @ImportAutoConfiguration({BitjangAutoConfiguration.class, BitjangWebAutoConfiguration.class})
    @Import(Pages.class)
    static class WithLocks {}

    private static ApplicationContext contextOf(Class<?> test) {
        return new TestContextManager(test).getTestContext().getApplicationContext();
    }

    @Test
    void handler_that_nothing_would_guard_stops_the_test() {
        assertThatThrownBy(() -> contextOf(WithoutLocks.class)).satisfies(failure -> {
            LocksFailure found = LocksFailure.of(failure);
            assertThat(found.description()).contains("@RequiresEditLock", "Pages.save", "has no effect");
            assertThat(found.action()).contains("@AutoConfigureJdbc", "BitjangWebAutoConfiguration", "@SpringBootTest");
        });
    }

    @Test
    void handler_is_guarded_in_a_test_that_has_locks() throws Exception {
        ApplicationContext context = contextOf(WithLocks.class);
        MockMvc mvc = context.getBean(MockMvc.class);
        Principal kim = () -> "kim";
        mvc.perform(post("/orders/42").principal(kim)).andExpect(status().isPreconditionRequired());
        String lockId = context.getBean(EditLocks.class)
                .open("order", "42", kim, "tab-0001", null)
                .id()
                .value();
        mvc.perform(post("/orders/42").principal(kim).param("lid", lockId)).andExpect(status().is3xxRedirection());
        mvc.perform(post("/orders/42").principal(kim).param("lid", lockId)).andExpect(status().isGone());
    }

    @Test
    void test_of_other_handlers_needs_no_locks() throws Exception {
        MockMvc mvc = contextOf(WithoutGuardedHandlers.class).getBean(MockMvc.class);
        mvc.perform(post("/customers/42")).andExpect(status().is3xxRedirection());
    }
}
