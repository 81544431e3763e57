// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import io.bitjang.LockId;
import io.bitjang.LockName;
import jakarta.servlet.http.HttpServletRequest;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;

/** What a request says: who sent it, from where, with which lock id and version. */
final class Requests {

    static final String TOKEN_HEADER = "Lock-Token";
    static final String TOKEN_ATTRIBUTE = Requests.class.getName() + ".token";
    static final String TOKEN_FIELD = "lid";
    static final String VERSION_FIELD = "version";

    private static final int MAX_OWNER = 255;

    private Requests() {}

    /** Who is signed in. The security framework says so, nothing in the request does. */
    static Principal person(HttpServletRequest request) {
        Principal person = request.getUserPrincipal();
        if (person == null || person.getName() == null || person.getName().isBlank()) {
            throw EditLockProblem.signIn();
        }
        String name = person.getName();
        if (name.codePointCount(0, name.length()) > MAX_OWNER || !isStorable(name)) {
            throw EditLockProblem.denied(
                    "Your user name is too long for a lock, or has a character that can't be stored.");
        }
        return person;
    }

    /** Without U+0000 and lone surrogates, which not every database can store. */
    static boolean isStorable(String text) {
        return text.codePoints()
                .noneMatch(c -> c == 0 || (c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE));
    }

    static LockName name(@Nullable String type, @Nullable String id) {
        if ((type + id).chars().anyMatch(Character::isISOControl)) {
            throw EditLockProblem.bad(
                    "The name of a lock has a control character."); // which could forge a line of a log
        }
        try {
            return LockName.of(String.valueOf(type), String.valueOf(id));
        } catch (IllegalArgumentException e) {
            throw EditLockProblem.bad(e.getMessage() + ".");
        }
    }

    /**
     * Refuses what a page of another site sent. The browser itself says where a request comes from, and no script can change that;
     * an old browser says at least the origin. This stands next to the security framework's own token, not in its place.
     */
    static void requireSameOrigin(HttpServletRequest request) {
        String site = request.getHeader("Sec-Fetch-Site");
        String origin = request.getHeader(HttpHeaders.ORIGIN);
        boolean same = site != null
                ? site.equals("same-origin") || site.equals("none")
                : origin == null || isOwn(request, origin);
        if (!same) {
            throw EditLockProblem.crossSite();
        }
    }

    private static boolean isOwn(HttpServletRequest request, String origin) {
        try {
            URI from = new URI(origin);
            String scheme = from.getScheme();
            String host = from.getHost();
            if (scheme == null || host == null) {
                return false;
            }
            int port = from.getPort() >= 0 ? from.getPort() : scheme.equalsIgnoreCase("https") ? 443 : 80;
            return scheme.equalsIgnoreCase(request.getScheme())
                    && host.toLowerCase(Locale.ROOT)
                            .equals(request.getServerName().toLowerCase(Locale.ROOT))
                    && port == request.getServerPort();
        } catch (URISyntaxException e) {
            return false; // "null", for example: a sandboxed frame
        }
    }

    /** The lock id in the header or in the form. In the URL it would end up in logs: refused there. */
    static Optional<String> token(HttpServletRequest request) {
        String query = request.getQueryString();
        if (query != null && Arrays.stream(query.split("[&;]")).anyMatch(Requests::isToken)) {
            throw EditLockProblem.bad("A lock id is a secret and must not stand in a URL.");
        }
        return present((String) request.getAttribute(TOKEN_ATTRIBUTE))
                .or(() -> present(request.getHeader(TOKEN_HEADER)))
                .or(() -> present(request.getParameter(TOKEN_FIELD)));
    }

    /** As the container reads it: the name may be encoded. */
    private static boolean isToken(String parameter) {
        try {
            String name = parameter.split("=", 2)[0];
            return URLDecoder.decode(name, StandardCharsets.UTF_8).equals(TOKEN_FIELD);
        } catch (IllegalArgumentException e) {
            return false; // no container makes a parameter of it
        }
    }

    /** The version that the sender's copy was made from. */
    static Optional<String> version(HttpServletRequest request) {
        return present(request.getHeader(HttpHeaders.IF_MATCH));
    }

    static Optional<String> present(@Nullable String text) {
        return Optional.ofNullable(text).map(String::strip).filter(value -> !value.isEmpty());
    }

    /** The lock id with this text, which must be of this lock. The text is not repeated. */
    static LockId lockId(String token, LockName name) {
        LockId id;
        try {
            id = new LockId(token);
        } catch (IllegalArgumentException e) {
            throw EditLockProblem.bad("What was sent as a lock id is none: it was cut off or changed.");
        }
        if (!id.name().equals(name)) {
            throw EditLockProblem.denied("This lock id is of another lock.");
        }
        return id;
    }
}
