// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.util.Optional;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/** The behaviour of {@link OnDatabase}. */
final class OnDatabaseExtension implements ExecutionCondition, ParameterResolver {

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        String name = database(context).orElse(null);
        if (name == null) {
            return ConditionEvaluationResult.enabled("bound to no database");
        }
        String product = name.equals("h2-server") ? "h2" : name;
        if (!Settings.ALL.contains(product)) {
            throw new IllegalArgumentException("@OnDatabase(\"" + name + "\") on " + context.getDisplayName()
                    + " is none of " + String.join(", ", Settings.ALL) + ", h2-server");
        }
        if (TestDatabases.selected().contains(product)) {
            return ConditionEvaluationResult.enabled(product + " is selected");
        }
        String reason = product + " is not among the databases of " + Settings.property("databases") + "="
                + String.join(",", TestDatabases.selected());
        Progress.say("SKIPPED " + context.getDisplayName() + ": " + reason);
        return ConditionEvaluationResult.disabled(reason);
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == TestDatabase.class;
    }

    @Override
    public TestDatabase resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return database(context)
                .map(TestDatabases::byName)
                .orElseThrow(() -> new ParameterResolutionException("No @OnDatabase on " + context.getDisplayName()));
    }

    /** The innermost annotation: of the method, the class, or a class around it. */
    static Optional<String> database(ExtensionContext context) {
        for (Optional<ExtensionContext> at = Optional.of(context);
                at.isPresent();
                at = at.get().getParent()) {
            Optional<OnDatabase> found =
                    at.get().getElement().flatMap(e -> AnnotationSupport.findAnnotation(e, OnDatabase.class));
            if (found.isPresent()) {
                return found.map(OnDatabase::value);
            }
        }
        return Optional.empty();
    }
}
