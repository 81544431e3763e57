// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.web;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.servlet.support.RequestContextUtils;
import org.springframework.web.servlet.support.ServletUriComponentsBuilder;

/** What the frame of every page shows. */
@ControllerAdvice
class EveryPage {

    private final String database;

    EveryPage(@Value("${shop.database:}") String database) {
        this.database = database;
    }

    @ModelAttribute
    void frame(HttpServletRequest request, Model model) {
        model.addAttribute("person", person(request));
        model.addAttribute("operator", request.isUserInRole("OPERATOR"));
        model.addAttribute("database", database);
        model.addAttribute("path", request.getRequestURI());
        model.addAttribute("languageLink", languageLink(request));
    }

    /** The same page in the other language; none for the answer to a form, which can't be asked for again. */
    private static @Nullable String languageLink(HttpServletRequest request) {
        if (!request.getMethod().equals("GET") || request.getDispatcherType() != DispatcherType.REQUEST) {
            return null;
        }
        String other = RequestContextUtils.getLocale(request).getLanguage().equals("ko") ? "en" : "ko";
        return ServletUriComponentsBuilder.fromRequest(request)
                .scheme(null)
                .host(null)
                .port(null)
                .replaceQueryParam("lang", other)
                .build()
                .toUriString();
    }

    private static @Nullable String person(HttpServletRequest request) {
        return request.getRemoteUser();
    }
}
