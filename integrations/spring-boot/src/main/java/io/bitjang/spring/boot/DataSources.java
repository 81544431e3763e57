// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;

/** Finds the data source of the locks among those of the application, or says that a choice is needed. */
final class DataSources {

    /**
     * What was chosen.
     *
     * @param own where the locks get their connections
     * @param transactions whose transactions they follow
     * @param name the name of that bean; null if it is the only or primary one
     */
    record Choice(
            DataSource own,
            DataSource transactions,
            @Nullable String name) {}

    private final ConfigurableListableBeanFactory beans;
    private final ObjectProvider<DataSource> all;
    private final @Nullable DataSource marked;

    DataSources(ConfigurableListableBeanFactory beans, ObjectProvider<DataSource> all, @Nullable DataSource marked) {
        this.beans = beans;
        this.all = all;
        this.marked = marked;
    }

    /** The choice: by name, by mark, or because there is only one candidate. */
    Choice choose(@Nullable String name) {
        if (name != null) {
            DataSource named = named(name);
            return new Choice(marked != null ? marked : named, named, name);
        }
        @Nullable DataSource main = main();
        if (marked == null) {
            if (main == null) {
                throw severalCandidates();
            }
            return new Choice(main, main, null);
        }
        DataSource transactions = main != null && leadToOneAddress(main, marked) ? main : marked;
        return new Choice(marked, transactions, nameOf(transactions));
    }

    private @Nullable String nameOf(DataSource wanted) {
        return Arrays.stream(beans.getBeanNamesForType(DataSource.class))
                .filter(name -> beans.getBean(name) == wanted)
                .findFirst()
                .orElse(null);
    }

    private DataSource named(String name) {
        try {
            return beans.getBean(name, DataSource.class);
        } catch (NoSuchBeanDefinitionException e) {
            throw new LocksStartException(
                    "bitjang.data-source names '" + name + "', and there is no such data source bean.",
                    "Name one of these beans: " + String.join(", ", names()) + ".",
                    e);
        }
    }

    /** The only one, or the primary one; the one that is marked counts only if there is no other. */
    private @Nullable DataSource main() {
        @Nullable DataSource unique = all.getIfUnique();
        if (unique != null || marked == null) {
            return unique;
        }
        List<DataSource> others = names().stream()
                .map(name -> beans.getBean(name, DataSource.class))
                .filter(each -> each != marked)
                .toList();
        return others.size() == 1 ? others.get(0) : null;
    }

    private List<String> names() {
        return Arrays.stream(beans.getBeanNamesForType(DataSource.class))
                .filter(this::isCandidate)
                .toList();
    }

    private boolean isCandidate(String name) {
        if (!beans.containsBeanDefinition(name)) {
            return true;
        }
        return beans.getBeanDefinition(name).isAutowireCandidate()
                && (!(beans.getMergedBeanDefinition(name) instanceof AbstractBeanDefinition definition)
                        || definition.isDefaultCandidate());
    }

    private LocksStartException severalCandidates() {
        return new LocksStartException(
                "There are several data sources, and nothing says which of them has the locks: "
                        + String.join(", ", names()) + ".",
                "Set bitjang.data-source to the name of one of them, mark one with @BitjangDataSource, or make one"
                        + " @Primary.",
                null);
    }

    private static boolean leadToOneAddress(DataSource one, DataSource other) {
        return one == other || Objects.equals(address(one), address(other));
    }

    private static @Nullable String address(DataSource source) {
        try (Connection connection = source.getConnection()) {
            return connection.getMetaData().getURL();
        } catch (SQLException e) {
            throw LocksFactory.notReachable(e.getMessage(), e);
        }
    }
}
