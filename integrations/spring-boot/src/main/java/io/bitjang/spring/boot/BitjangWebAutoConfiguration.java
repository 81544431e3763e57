// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import io.bitjang.admin.LockAdmin;
import io.bitjang.spring.TransactionalLockManager;
import io.bitjang.spring.web.EditLockConfiguration;
import io.bitjang.spring.web.EditLockPolicy;
import io.bitjang.spring.web.EditLockSettings;
import jakarta.servlet.Servlet;
import java.util.List;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Import;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.web.servlet.function.RouterFunction;

/** The edit lock over HTTP, for an application that says which locks may be taken that way. */
@AutoConfiguration(
        after = BitjangAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration",
            "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration",
            "org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration"
        })
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass({Servlet.class, RouterFunction.class})
@ConditionalOnBean({TransactionalLockManager.class, LockAdmin.class, PlatformTransactionManager.class})
@ConditionalOnBooleanProperty(name = "bitjang.edit-locks.enabled", matchIfMissing = true)
@Conditional(BitjangWebAutoConfiguration.Wanted.class)
@Import(EditLockConfiguration.class)
public final class BitjangWebAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    EditLockSettings bitjangEditLockSettings(BitjangProperties settings) {
        return settings.editLocks().settings();
    }

    /** Without one of these nobody could take a lock, and the endpoints would only be in the way. */
    static final class Wanted extends AnyNestedCondition {

        Wanted() {
            super(ConfigurationPhase.REGISTER_BEAN);
        }

        @Conditional(TypesAreNamed.class)
        static final class ByTypes {}

        @ConditionalOnBean(EditLockPolicy.class)
        static final class ByPolicy {}

        @ConditionalOnBean(EditLockSettings.class)
        static final class BySettings {}
    }

    static final class TypesAreNamed extends SpringBootCondition {

        @Override
        public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
            List<String> types = Binder.get(context.getEnvironment())
                    .bind("bitjang.edit-locks.types", Bindable.listOf(String.class))
                    .orElse(List.of());
            return new ConditionOutcome(
                    !types.isEmpty(),
                    ConditionMessage.forCondition("bitjang.edit-locks.types").because("types are " + types));
        }
    }
}
