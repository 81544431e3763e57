// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.data;

import io.bitjang.Wait;
import io.bitjang.jpa.AggregateLocks;
import io.bitjang.jpa.VersionToken;
import jakarta.persistence.EntityManager;
import jakarta.persistence.TransactionRequiredException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.beans.PropertyValue;
import org.springframework.beans.PropertyValues;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.RuntimeBeanReference;
import org.springframework.data.jpa.repository.support.JpaRepositoryFactoryBean;
import org.springframework.data.repository.core.RepositoryMetadata;
import org.springframework.data.repository.core.RepositoryMethodContext;
import org.springframework.data.repository.core.support.RepositoryMetadataAccess;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * What {@link AggregateRepository} does. Spring Data finds it in {@code META-INF/spring.factories} and makes one bean of it for all
 * repositories, so for each call it asks to which of them the call was made. Their proxies translate what it throws. Thread-safe.
 */
final class AggregateRepositoryFragment<T, ID> implements AggregateRepository<T, ID>, RepositoryMetadataAccess {

    private final ConfigurableListableBeanFactory beans;
    private final Map<Class<?>, EntityManager> entityManagers = new ConcurrentHashMap<>();

    AggregateRepositoryFragment(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
    }

    @Override
    public T lock(ID id, Wait wait) {
        return aggregatesToChange().lock(type(), id, wait);
    }

    @Override
    public List<T> lockAll(Collection<? extends ID> ids, Wait wait) {
        return aggregatesToChange().lockAll(type(), ids, wait);
    }

    @Override
    public T atVersion(ID id, Object version) {
        return aggregates().atVersion(type(), id, version);
    }

    @Override
    public T forceIncrement(ID id) {
        return aggregatesToChange().forceIncrement(type(), id);
    }

    @Override
    public VersionToken versionOf(T aggregate) {
        return aggregates().versionOf(aggregate);
    }

    /** Hibernate would drop the changes of a read-only transaction without a word, and PostgreSQL would lock nothing in it. */
    private AggregateLocks aggregatesToChange() {
        AggregateLocks aggregates = aggregates();
        if (TransactionSynchronizationManager.isCurrentTransactionReadOnly()) {
            throw new IllegalStateException(
                    call()
                            + " was called in a read-only transaction, which could not change what it locks: call it in @Transactional");
        }
        return aggregates;
    }

    private AggregateLocks aggregates() {
        EntityManager entityManager =
                entityManagers.computeIfAbsent(repository().getRepositoryInterface(), this::entityManagerOf);
        if (!entityManager.isJoinedToTransaction()) {
            throw new TransactionRequiredException(call()
                    + " was called without a transaction of its entity manager, and begins none, because the lock"
                    + " would end with the call: make the service that calls it @Transactional");
        }
        return AggregateLocks.of(entityManager);
    }

    /** The factory of a repository does not tell its entity manager; its definition does. */
    private EntityManager entityManagerOf(Class<?> repository) {
        Set<String> names = new TreeSet<>();
        for (String factory : beans.getBeanNamesForType(JpaRepositoryFactoryBean.class, true, false)) {
            String name = BeanFactoryUtils.transformedBeanName(factory);
            if (repository == beans.getType(name) && beans.containsBeanDefinition(name)) {
                PropertyValues properties = beans.getMergedBeanDefinition(name).getPropertyValues();
                PropertyValue property = properties.getPropertyValue("entityManager");
                if (property != null && property.getValue() instanceof RuntimeBeanReference reference) {
                    names.add(reference.getBeanName());
                }
            }
        }
        if (names.size() != 1) {
            throw new IllegalStateException(
                    "The entity manager of " + repository.getName() + " should be one, not " + names
                            + ": AggregateRepository is for repositories of Spring Data JPA, each with its own interface");
        }
        return beans.getBean(names.iterator().next(), EntityManager.class);
    }

    @SuppressWarnings("unchecked")
    private Class<T> type() {
        return (Class<T>) repository().getDomainType();
    }

    private static RepositoryMetadata repository() {
        return RepositoryMethodContext.getContext().getMetadata();
    }

    private static String call() {
        RepositoryMethodContext context = RepositoryMethodContext.getContext();
        return context.getMetadata().getRepositoryInterface().getSimpleName() + "."
                + context.getMethod().getName();
    }
}
