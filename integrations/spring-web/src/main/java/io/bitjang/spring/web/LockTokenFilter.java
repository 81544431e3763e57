// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Collections;
import java.util.Enumeration;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Takes the lock id out of the request's headers before anybody could write these down: a log of requests, or the actuator's list of
 * exchanges. The guard and the endpoints find it in an attribute. Thread-safe.
 */
final class LockTokenFilter extends OncePerRequestFilter implements Ordered {

    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE + 5;
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        String token = request.getHeader(Requests.TOKEN_HEADER);
        if (token == null) {
            chain.doFilter(request, response);
        } else {
            request.setAttribute(Requests.TOKEN_ATTRIBUTE, token);
            chain.doFilter(new WithoutToken(request), response);
        }
    }

    private static final class WithoutToken extends HttpServletRequestWrapper {

        WithoutToken(HttpServletRequest request) {
            super(request);
        }

        private static boolean isToken(String name) {
            return name.equalsIgnoreCase(Requests.TOKEN_HEADER);
        }

        @Override
        public @Nullable String getHeader(String name) {
            return isToken(name) ? null : super.getHeader(name);
        }

        @Override
        public Enumeration<String> getHeaders(String name) {
            return isToken(name) ? Collections.emptyEnumeration() : super.getHeaders(name);
        }

        @Override
        public Enumeration<String> getHeaderNames() {
            return Collections.enumeration(Collections.list(super.getHeaderNames()).stream()
                    .filter(name -> !isToken(name))
                    .toList());
        }
    }
}
