// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import io.bitjang.LockName;
import jakarta.servlet.http.HttpServletRequest;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.common.CompositeStringExpression;
import org.springframework.expression.common.TemplateParserContext;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

/**
 * A handler with {@link RequiresEditLock}, understood and checked once: what is wrong with it stops the application's start, not
 * the first person who saves. Immutable.
 */
final class Guarded {

    private static final Pattern PATH_VARIABLE = Pattern.compile("\\{([^{}#]+)}");
    private static final ParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();
    private static final Set<Class<?>> LATER = Set.of(
            Callable.class,
            Future.class,
            CompletionStage.class,
            DeferredResult.class,
            WebAsyncTask.class,
            ResponseBodyEmitter.class,
            StreamingResponseBody.class);

    private final Method method;
    private final RequiresEditLock required;
    private final @Nullable String pathVariable;
    private final @Nullable Expression expression;

    private Guarded(Method method, RequiresEditLock required) {
        this.method = method;
        this.required = required;
        Matcher shorthand = PATH_VARIABLE.matcher(required.id());
        this.pathVariable = shorthand.matches() ? shorthand.group(1) : null;
        this.expression = pathVariable == null ? parse() : null;
    }

    /** Understands the annotation on a method of this class. */
    static Guarded of(Method method, Class<?> target) {
        RequiresEditLock required = Objects.requireNonNull(
                AnnotatedElementUtils.findMergedAnnotation(method, RequiresEditLock.class), "annotation");
        if (!AnnotatedElementUtils.hasAnnotation(target, Controller.class)) {
            throw wrong(
                    method,
                    "stands on a method of a class that is no @Controller: it guards handlers of requests only");
        }
        if (Modifier.isPrivate(method.getModifiers()) || Modifier.isFinal(method.getModifiers())) {
            throw wrong(method, "stands on a private or final method, which no proxy can guard");
        }
        Class<?> returned = method.getReturnType();
        if (LATER.stream().anyMatch(type -> type.isAssignableFrom(returned))
                || ReactiveAdapterRegistry.getSharedInstance().getAdapter(returned) != null) {
            throw wrong(
                    method,
                    "stands on a handler that answers later (" + returned.getSimpleName()
                            + "): its transaction would be over by then. Return the result itself");
        }
        try {
            LockName.of(required.type(), "any");
        } catch (IllegalArgumentException e) {
            throw wrong(method, "has a type that is none: " + e.getMessage());
        }
        return new Guarded(method, required);
    }

    static boolean isOn(Method method) {
        return AnnotatedElementUtils.hasAnnotation(method, RequiresEditLock.class);
    }

    String type() {
        return required.type();
    }

    boolean version() {
        return required.version();
    }

    boolean acceptLapsed() {
        return required.acceptLapsed();
    }

    String transactionManager() {
        return required.transactionManager();
    }

    /** Whether it always answers with an error, by annotation. */
    boolean answersError() {
        ResponseStatus status = AnnotatedElementUtils.findMergedAnnotation(method, ResponseStatus.class);
        return status != null && status.code().isError();
    }

    /** The lock of this request. */
    LockName name(HttpServletRequest request, Object target, @Nullable Object[] arguments) {
        if (expression == null) {
            Object variables = request.getAttribute(HandlerMapping.URI_TEMPLATE_VARIABLES_ATTRIBUTE);
            Object value = variables instanceof Map<?, ?> map ? map.get(pathVariable) : null;
            return Requests.name(type(), value == null ? "" : value.toString());
        }
        try {
            String id = expression.getValue(
                    new MethodBasedEvaluationContext(target, method, arguments, NAMES), String.class);
            return Requests.name(type(), id == null ? "" : id);
        } catch (EvaluationException e) {
            throw new IllegalStateException(
                    wrong(method, "has an id that can't be computed").getMessage(), e);
        }
    }

    /** The paths of this handler all have the variable that stands for the id. */
    void checkPaths(Set<String> patterns) {
        if (pathVariable != null) {
            Pattern variable = Pattern.compile("\\{\\*?" + Pattern.quote(pathVariable) + "[:}]");
            patterns.stream()
                    .filter(path -> !variable.matcher(path).find())
                    .findFirst()
                    .ifPresent(path -> {
                        throw wrong(
                                method,
                                "has the id {" + pathVariable + "}, but there is no such variable in the path " + path);
                    });
        }
    }

    private Expression parse() {
        Expression parsed;
        try {
            parsed = new SpelExpressionParser().parseExpression(required.id(), new TemplateParserContext());
        } catch (ParseException e) {
            throw wrong(method, "has an id that is no expression: " + e.getMessage());
        }
        if (spel(parsed).findAny().isEmpty()) {
            throw wrong(
                    method,
                    "has the same id for every request, '" + required.id()
                            + "'. Write {no} for the path variable no, or #{#no} for the parameter no");
        }
        Set<String> known = known();
        spel(parsed)
                .flatMap(each -> variables(each.getAST()))
                .filter(variable -> !known.contains(variable))
                .findFirst()
                .ifPresent(variable -> {
                    throw wrong(
                            method,
                            "uses " + variable + ", which is no parameter of the handler; there are "
                                    + known.stream().sorted().collect(Collectors.joining(", "))
                                    + (NAMES.getParameterNames(method) == null
                                            ? ". Compile with -parameters for their names"
                                            : ""));
                });
        return parsed;
    }

    private Set<String> known() {
        @Nullable String @Nullable [] names = NAMES.getParameterNames(method);
        Stream<String> indexed =
                IntStream.range(0, method.getParameterCount()).boxed().flatMap(i -> Stream.of("#p" + i, "#a" + i));
        return Stream.concat(
                        Stream.concat(indexed, Stream.of("#root", "#this")),
                        names == null ? Stream.empty() : Arrays.stream(names).map(name -> "#" + name))
                .collect(Collectors.toSet());
    }

    private static Stream<SpelExpression> spel(Expression parsed) {
        if (parsed instanceof CompositeStringExpression several) {
            return Arrays.stream(several.getExpressions()).flatMap(Guarded::spel);
        }
        return parsed instanceof SpelExpression one ? Stream.of(one) : Stream.empty();
    }

    private static Stream<String> variables(SpelNode node) {
        Stream<String> own = node instanceof VariableReference ? Stream.of(node.toStringAST()) : Stream.empty();
        return Stream.concat(
                own,
                IntStream.range(0, node.getChildCount())
                        .mapToObj(node::getChild)
                        .flatMap(Guarded::variables));
    }

    static IllegalStateException wrong(Method method, String what) {
        return new IllegalStateException("@RequiresEditLock on "
                + method.getDeclaringClass().getName() + "." + method.getName() + " " + what + ".");
    }
}
