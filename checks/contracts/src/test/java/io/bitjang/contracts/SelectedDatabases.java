// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts;

import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.TestDatabases;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.launcher.PostDiscoveryFilter;

/** Leaves out the classes of databases that this run was not asked for, so that they don't count as skipped. */
public final class SelectedDatabases implements PostDiscoveryFilter {

    @Override
    public FilterResult apply(TestDescriptor test) {
        return test.getSource()
                .filter(ClassSource.class::isInstance)
                .map(source -> ((ClassSource) source).getJavaClass())
                .flatMap(type -> AnnotationSupport.findAnnotation(type, OnDatabase.class))
                .map(annotation -> annotation.value().replace("-server", ""))
                .map(database -> FilterResult.includedIf(
                        TestDatabases.selected().contains(database),
                        () -> database + " was asked for",
                        () -> database + " was not asked for"))
                .orElseGet(() -> FilterResult.included("bound to no database"));
    }
}
