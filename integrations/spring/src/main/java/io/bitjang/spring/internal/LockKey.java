// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.internal;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.expression.BeanResolver;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.common.CompositeStringExpression;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.common.TemplateParserContext;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineMap;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/**
 * The text with expressions that names a lock. All that can be wrong with it before the call is found when it is made: what it may
 * name are the parameters of the method that carries the annotation. Immutable.
 */
final class LockKey {

    private static final Pattern BARE_NAME = Pattern.compile("#(\\w+)|\\{(\\w+)}");
    private static final Pattern BY_INDEX = Pattern.compile("[pa](\\d+)");

    private final String text;
    private final String where;
    private final List<Expression> parts;
    private final String @Nullable [] names;
    private final @Nullable BeanResolver beans;

    LockKey(String text, Method carrier, String where, @Nullable BeanResolver beans) {
        this.text = text;
        this.where = where;
        this.beans = beans;
        @Nullable String @Nullable [] discovered = new DefaultParameterNameDiscoverer().getParameterNames(carrier);
        this.names = discovered == null
                ? null
                : Arrays.stream(discovered).map(String::valueOf).toArray(String[]::new);
        this.parts = parse();
        Set<String> known = known(carrier.getParameterCount());
        for (Expression part : parts) {
            if (part instanceof SpelExpression spel) {
                check(spel.getAST(), false, known);
            } else {
                requireNoBareName(part.getExpressionString(), known);
            }
        }
    }

    private List<Expression> parse() {
        if (text.isBlank()) {
            throw wrong("has no name for the lock: its value is blank");
        }
        try {
            Expression parsed = new SpelExpressionParser().parseExpression(text, new TemplateParserContext());
            return parsed instanceof CompositeStringExpression several
                    ? List.of(several.getExpressions())
                    : List.of(parsed);
        } catch (ParseException e) {
            throw new IllegalStateException(where + " can't be parsed: " + e.getMessage(), e);
        }
    }

    private Set<String> known(int parameters) {
        Set<String> known = new HashSet<>(names == null ? List.of() : List.of(names));
        for (int i = 0; i < parameters; i++) {
            known.add("p" + i);
            known.add("a" + i);
        }
        return known;
    }

    private void check(SpelNode node, boolean onValue, Set<String> known) {
        if (node instanceof FunctionReference) {
            throw wrong("calls the function " + node.toStringAST() + ", but there are no functions");
        }
        if (node instanceof VariableReference variable) {
            requireKnown(variable.toStringAST().substring(1), known);
        }
        if (!onValue && (node instanceof PropertyOrFieldReference || node instanceof MethodReference)) {
            throw wrong(
                    "names '" + node.toStringAST() + "', which belongs to nothing. A parameter is written with a #: "
                            + "#{#" + node.toStringAST() + "}");
        }
        boolean onElements = onValue
                || node instanceof Projection
                || node instanceof Selection
                || node instanceof Indexer
                || node instanceof InlineMap;
        for (int i = 0; i < node.getChildCount(); i++) {
            boolean member = node instanceof CompoundExpression && i > 0;
            check(node.getChild(i), member || onElements, known);
        }
    }

    private void requireKnown(String name, Set<String> known) {
        if (known.contains(name) || name.equals("this") || name.equals("root")) {
            return;
        }
        if (names == null && !BY_INDEX.matcher(name).matches()) {
            throw wrong(
                    "names the parameter '" + name + "', but the class was compiled without the names of parameters."
                            + " Compile with -parameters, or write #p0 for the first");
        }
        throw wrong("names '" + name + "', which is no parameter of the method. Its parameters are "
                + (names == null ? "not known by name" : List.of(names)));
    }

    /** Without the braces it would be one lock for all. */
    private void requireNoBareName(String literal, Set<String> known) {
        Matcher bare = BARE_NAME.matcher(literal);
        while (bare.find()) {
            String name = bare.group(1) != null ? bare.group(1) : bare.group(2);
            if (known.contains(name)) {
                throw wrong("has " + bare.group() + " as plain text, so all calls would have the same lock. Write #{#"
                        + name + "}");
            }
        }
    }

    private IllegalStateException wrong(String what) {
        return new IllegalStateException(where + " " + what + ".");
    }

    /** The name for a call with these arguments. */
    String evaluate(@Nullable Object[] arguments) {
        StandardEvaluationContext context = new StandardEvaluationContext();
        if (beans != null) {
            context.setBeanResolver(beans);
        }
        for (int i = 0; i < arguments.length; i++) {
            context.setVariable("p" + i, arguments[i]);
            context.setVariable("a" + i, arguments[i]);
            if (names != null) {
                context.setVariable(names[i], arguments[i]);
            }
        }
        List<String> values = new ArrayList<>();
        for (Expression part : parts) {
            values.add(
                    part instanceof LiteralExpression
                            ? part.getExpressionString()
                            : value(part, computed(part, context)));
        }
        return String.join("", values);
    }

    private @Nullable Object computed(Expression part, EvaluationContext context) {
        try {
            return part.getValue(context);
        } catch (EvaluationException e) {
            throw new IllegalArgumentException(
                    where + ": #{" + part.getExpressionString() + "} can't be computed: " + e.getMessage(), e);
        }
    }

    private String value(Expression part, @Nullable Object value) {
        String expression = "#{" + part.getExpressionString() + "}";
        if (value == null) {
            throw new IllegalArgumentException(where + ": " + expression + " is null, so it names no lock.");
        }
        String said = value.toString();
        if (said.isBlank()) {
            throw new IllegalArgumentException(where + ": " + expression + " is blank, so it names no lock.");
        }
        if (said.equals(value.getClass().getName() + "@" + Integer.toHexString(value.hashCode()))) {
            throw new IllegalArgumentException(where + ": " + expression + " is a "
                    + value.getClass().getTypeName()
                    + " without a text of its own, so each object would have another lock. Name its id.");
        }
        return said;
    }

    @Override
    public String toString() {
        return text;
    }
}
