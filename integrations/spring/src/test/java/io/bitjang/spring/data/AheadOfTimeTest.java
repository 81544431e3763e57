// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.data;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Wait;
import io.bitjang.spring.data.shop.Orders;
import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.GeneratedFiles.Kind;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.javapoet.ClassName;

/** The beans may be worked out when the application is built, as for a native image. */
class AheadOfTimeTest {

    @Configuration(proxyBeanMethods = false)
    @Import(ShopConfiguration.class)
    static class Application {
        @Bean
        DataSource dataSource() {
            JdbcDataSource own = new JdbcDataSource();
            own.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
            return own;
        }
    }

    @Test
    void what_a_repository_needs_to_lock_is_there_in_an_application_that_was_processed_ahead_of_time()
            throws Exception {
        InMemoryGeneratedFiles files = new InMemoryGeneratedFiles();
        DefaultGenerationContext generation =
                new DefaultGenerationContext(new ClassNameGenerator(ClassName.get(Application.class)), files);
        try (AnnotationConfigApplicationContext application = new AnnotationConfigApplicationContext()) {
            application.register(Application.class);
            new ApplicationContextAotGenerator().processAheadOfTime(application, generation);
            generation.writeGeneratedContent();
        }

        assertThat(RuntimeHintsPredicates.reflection()
                        .onMethodInvocation(
                                AggregateRepositoryFragment.class.getMethod("lock", Object.class, Wait.class)))
                .accepts(generation.getRuntimeHints());
        assertThat(files.getGeneratedFileContent(
                        Kind.SOURCE, path(AggregateRepositoryFragment.class.getName() + "__BeanDefinitions")))
                .contains("new AggregateRepositoryFragment(");
        // by this the fragment finds the entity manager of a repository
        assertThat(files.getGeneratedFileContent(Kind.SOURCE, path(Orders.class.getName() + "__BeanDefinitions")))
                .contains(
                        "(\"entityManager\", new RuntimeBeanReference(\"jpaSharedEM_entityManagerFactory\", EntityManager.class))");
    }

    private static String path(String type) {
        return type.replace('.', '/') + ".java";
    }
}
