// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.http.HttpHeaders;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import org.springframework.web.bind.support.WebDataBinderFactory;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.method.support.HandlerMethodArgumentResolver;
import org.springframework.web.method.support.ModelAndViewContainer;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.mvc.method.annotation.ExceptionHandlerExceptionResolver;

/**
 * What the application's own handlers get: a parameter of type {@link EditLock}, and problems where they throw something about
 * locks and no {@code @ExceptionHandler} of the application's takes it. Thread-safe.
 */
final class EditLockMvc implements WebMvcConfigurer, HandlerMethodArgumentResolver {

    /** Where a page for people finds the problem. */
    static final String PROBLEM = "bitjangProblem";

    private final Supplier<Problems> problems;

    EditLockMvc(Supplier<Problems> problems) {
        this.problems = problems;
    }

    @Override
    public void addArgumentResolvers(List<HandlerMethodArgumentResolver> resolvers) {
        resolvers.add(this);
    }

    /** Right behind the application's own handlers: an advice among them could stand before one of theirs. */
    @Override
    public void extendHandlerExceptionResolvers(List<HandlerExceptionResolver> resolvers) {
        int last = -1;
        for (int i = 0; i < resolvers.size(); i++) {
            if (resolvers.get(i) instanceof ExceptionHandlerExceptionResolver) {
                last = i;
            }
        }
        resolvers.add(last + 1, this::resolve);
    }

    @Override
    public boolean supportsParameter(MethodParameter parameter) {
        return parameter.getParameterType() == EditLock.class;
    }

    @Override
    public Object resolveArgument(
            MethodParameter parameter,
            @Nullable ModelAndViewContainer container,
            NativeWebRequest request,
            @Nullable WebDataBinderFactory binders) {
        if (parameter.getMethod() == null || !Guarded.isOn(parameter.getMethod())) {
            throw new IllegalStateException(
                    parameter.getExecutable() + " has a parameter of type EditLock, but no @RequiresEditLock");
        }
        return new BoundEditLock();
    }

    private @Nullable ModelAndView resolve(
            HttpServletRequest request, HttpServletResponse response, @Nullable Object handler, Exception failure) {
        Optional<EditLockProblem> found = problems.get().of(failure, request.getUserPrincipal());
        if (found.isEmpty() || response.isCommitted()) {
            return null;
        }
        EditLockProblem problem = found.get();
        problem.getHeaders().forEach((name, values) -> values.forEach(value -> response.addHeader(name, value)));
        response.setHeader(HttpHeaders.CACHE_CONTROL, "no-store");
        try {
            if (isForPeople(request)) {
                request.setAttribute(PROBLEM, problem.getBody());
                response.sendError(
                        problem.getStatusCode().value(), problem.getBody().getTitle());
            } else {
                response.setStatus(problem.getStatusCode().value());
                response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
                response.getOutputStream().write(Json.of(problem.getBody()).getBytes(StandardCharsets.US_ASCII));
            }
        } catch (IOException e) {
            failure.addSuppressed(e);
            return null;
        }
        return new ModelAndView();
    }

    /** A browser that loads a page says so; then the application's own error page is shown. */
    private static boolean isForPeople(HttpServletRequest request) {
        String accept = request.getHeader(HttpHeaders.ACCEPT);
        try {
            return accept != null
                    && MediaType.parseMediaTypes(accept).stream()
                            .anyMatch(type -> type.equalsTypeAndSubtype(MediaType.TEXT_HTML));
        } catch (InvalidMediaTypeException e) {
            return false;
        }
    }
}
