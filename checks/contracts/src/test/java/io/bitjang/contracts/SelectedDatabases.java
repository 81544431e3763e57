// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts;

import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.TestDatabases;
import org.jspecify.annotations.Nullable;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.PostDiscoveryFilter;

/** Leaves out the classes of databases that this run was not asked for, so that they don't count as skipped. */
public final class SelectedDatabases implements PostDiscoveryFilter {

    @Override
    public FilterResult apply(TestDescriptor test) {
        // the launcher drops only what has no children, so the methods have to be asked too
        return test.getSource()
                .map(SelectedDatabases::classOf)
                .flatMap(type -> AnnotationSupport.findAnnotation(type, OnDatabase.class))
                .map(annotation -> annotation.value().replace("-server", ""))
                .map(database -> FilterResult.includedIf(
                        TestDatabases.selected().contains(database),
                        () -> database + " was asked for",
                        () -> database + " was not asked for"))
                .orElseGet(() -> FilterResult.included("bound to no database"));
    }

    private static @Nullable Class<?> classOf(TestSource source) {
        if (source instanceof MethodSource method) {
            return method.getJavaClass();
        }
        return source instanceof ClassSource type ? type.getJavaClass() : null;
    }
}
