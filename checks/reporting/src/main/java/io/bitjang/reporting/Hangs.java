// SPDX-License-Identifier: Apache-2.0
package io.bitjang.reporting;

import java.nio.file.Path;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.PreInterruptCallback;
import org.junit.jupiter.api.extension.PreInterruptContext;

/** When a test has taken too long: keeps a picture of all threads before JUnit interrupts it. */
public final class Hangs implements PreInterruptCallback {

    @Override
    public void beforeThreadInterrupt(PreInterruptContext interrupt, ExtensionContext context) {
        String folder = System.getProperty("bitjang.build");
        if (folder != null) {
            new Failures(Path.of(folder).resolveSibling("failures"))
                    .hang(
                            context.getTestClass().map(Class::getName).orElse("?"),
                            context.getTestMethod()
                                    .map(java.lang.reflect.Method::getName)
                                    .orElse("(class)"));
        }
    }
}
