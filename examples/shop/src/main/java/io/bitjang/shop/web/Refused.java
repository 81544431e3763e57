// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.web;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Set;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.web.access.AccessDeniedHandler;
import org.springframework.security.web.csrf.CsrfException;

/**
 * A form that comes from a page of a session that has ended brings a token that nobody knows any more. For a person that is not
 * "forbidden" but "sign in again", and what was typed is shown.
 */
final class Refused implements AccessDeniedHandler {

    private static final Set<String> SIGNING = Set.of("/login", "/logout");

    @Override
    public void handle(HttpServletRequest request, HttpServletResponse response, AccessDeniedException denied)
            throws IOException {
        boolean ended = denied instanceof CsrfException;
        boolean page = String.valueOf(request.getHeader("Accept")).contains(MediaType.TEXT_HTML_VALUE);
        if (ended && SIGNING.contains(request.getRequestURI())) {
            response.sendRedirect("/login"); // a page that was left open: a fresh one does
        } else {
            response.sendError(ended && page ? HttpStatus.UNAUTHORIZED.value() : HttpStatus.FORBIDDEN.value());
        }
    }
}
