// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import io.bitjang.Locks;
import io.bitjang.spring.TransactionalLockManager;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.ServerResponse;

/**
 * The edit lock over HTTP for an application with Spring MVC: import it next to {@code @EnableWebMvc}. It needs beans of the types
 * {@link TransactionalLockManager}, {@link Locks}, {@link EditLockSettings} and {@link PlatformTransactionManager}, and uses
 * an {@link EditLockPolicy} and an {@link EditLockVersions} if there are some. Its {@link io.bitjang.spi.LockListener}, handed to
 * {@code Locks.builder(...)}, makes the events of this node faster.
 */
@Configuration(proxyBeanMethods = false)
@Import(EditLockGuards.class)
public class EditLockConfiguration {

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE) // who makes meters asks for all listeners early
    static EditLockSignal bitjangEditLockSignal() {
        return new EditLockSignal();
    }

    @Bean
    EditLocks bitjangEditLocks(
            TransactionalLockManager manager,
            Locks locks,
            ObjectProvider<EditLockPolicy> policy,
            EditLockSettings settings,
            EditLockSignal signal) {
        return new EditLocks(manager, locks.admin(), policy(policy, settings), settings, signal);
    }

    @Bean
    EditLockFeed bitjangEditLockFeed(
            Locks locks,
            ObjectProvider<EditLockPolicy> policy,
            EditLockSettings settings,
            ApplicationContext context,
            EditLockSignal signal) {
        EditLockFeed feed = new EditLockFeed(locks.admin(), policy(policy, settings), settings, context);
        signal.tell(feed::wake);
        return feed;
    }

    @Bean
    RouterFunction<ServerResponse> bitjangEditLockRoutes(
            EditLocks editLocks,
            EditLockSettings settings,
            EditLockFeed feed,
            Locks locks,
            ObjectProvider<EditLockVersions> versions,
            ObjectProvider<EditLockPolicy> policy) {
        Problems problems = new Problems(locks.admin(), policy(policy, settings));
        return new EditLockRoutes(editLocks, settings, feed, problems, versions.getIfAvailable()).function();
    }

    /** In a servlet container of Boot's it is there by itself; elsewhere register it first of all filters. */
    @Bean
    static LockTokenFilter bitjangLockTokenFilter() {
        return new LockTokenFilter();
    }

    static EditLockPolicy policy(ObjectProvider<EditLockPolicy> policy, EditLockSettings settings) {
        return new TypesPolicy(settings.types(), policy.getIfAvailable());
    }
}
