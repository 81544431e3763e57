// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import io.bitjang.LockData;
import io.bitjang.LockId;
import io.bitjang.LockName;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.web.servlet.function.HandlerFunction;
import org.springframework.web.servlet.function.RequestPredicates;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerRequest;
import org.springframework.web.servlet.function.ServerResponse;

/**
 * The endpoints. Functions, not a controller: so the order of decisions is written down here, and no advice of the application's
 * changes what the browser's client relies on. Thread-safe.
 */
final class EditLockRoutes {

    private static final ParameterizedTypeReference<Map<String, @Nullable Object>> FIELDS =
            new ParameterizedTypeReference<>() {};
    private static final String LOCK = "/{type}/{id}";
    private static final int MAX_REASON = 500;
    private static final int MAX_BODY = 8192;
    private static final Pattern TOKEN = Pattern.compile("\"(?:token|lid)\"\\s*:\\s*\"([^\"\\\\]*)\"");

    /** What an endpoint does for a person who is signed in. */
    @FunctionalInterface
    private interface Action {
        ServerResponse answer(ServerRequest request, Principal person) throws ServletException, IOException;
    }

    private final EditLocks locks;
    private final EditLockSettings settings;
    private final EditLockFeed feed;
    private final Problems problems;
    private final @Nullable EditLockVersions versions;

    EditLockRoutes(
            EditLocks locks,
            EditLockSettings settings,
            EditLockFeed feed,
            Problems problems,
            @Nullable EditLockVersions versions) {
        this.locks = locks;
        this.settings = settings;
        this.feed = feed;
        this.problems = problems;
        this.versions = versions;
    }

    RouterFunction<ServerResponse> function() {
        return RouterFunctions.route()
                .path(
                        settings.basePath(),
                        paths -> paths.GET("/events", safe(byItself(this::events)))
                                .GET(LOCK, safe(byItself(this::look)))
                                .PUT(LOCK, changing(this::take))
                                .PATCH(LOCK, changing(byItself(this::renew)))
                                .DELETE(LOCK, changing(this::release))
                                .POST(LOCK + "/leave", changing(this::leave))
                                .POST(LOCK + "/takeover", changing(this::takeOver))
                                .route(RequestPredicates.path(LOCK), refusing("GET, PUT, PATCH, DELETE"))
                                .route(RequestPredicates.path(LOCK + "/leave"), refusing("POST"))
                                .route(RequestPredicates.path(LOCK + "/takeover"), refusing("POST")))
                .build();
    }

    private HandlerFunction<ServerResponse> safe(Action action) {
        return request -> {
            HttpServletRequest servlet = request.servletRequest();
            try {
                return action.answer(request, Requests.person(servlet));
            } catch (RuntimeException e) {
                return Answers.problem(
                        problems.of(e, servlet.getUserPrincipal()).orElseThrow(() -> e));
            }
        };
    }

    /** What a page does without its person. */
    private static Action byItself(Action action) {
        return (request, person) -> {
            Heartbeats.begins(request.servletRequest());
            try {
                return action.answer(request, person);
            } finally {
                Heartbeats.ends(request.servletRequest());
            }
        };
    }

    private HandlerFunction<ServerResponse> changing(Action action) {
        return safe((request, person) -> {
            Requests.requireSameOrigin(request.servletRequest());
            return action.answer(request, person);
        });
    }

    private HandlerFunction<ServerResponse> refusing(String allowed) {
        return safe((request, person) -> {
            throw EditLockProblem.method(allowed);
        });
    }

    private ServerResponse look(ServerRequest request, Principal person) {
        LockName name = name(request);
        LockData held = locks.find(name.type(), name.id(), person).orElse(null);
        Map<String, @Nullable Object> body = new LinkedHashMap<>();
        body.put("type", name.type());
        body.put("id", name.id());
        body.put("held", held != null);
        body.put("mine", held != null && person.getName().equals(held.owner()));
        body.put("owner", held == null ? null : held.owner());
        body.put("since", held == null ? null : held.acquiredAt());
        body.put("expiresInMs", held == null ? null : held.remaining().toMillis());
        body.put("fence", held == null ? null : held.fence());
        body.put("note", held == null ? null : held.note());
        body.put("mayTakeOver", held != null && locks.mayTakeOver(person, held));
        return Answers.json(HttpStatus.OK, body);
    }

    private ServerResponse take(ServerRequest request, Principal person) throws ServletException, IOException {
        LockName name = name(request);
        Map<String, @Nullable Object> body = fields(request);
        String clientId = required(body, "clientId");
        String note = text(body, "note");
        Optional<String> version = Requests.version(request.servletRequest());
        if (version.isPresent() && versions == null) {
            throw EditLockProblem.noVersions();
        }
        Runnable current = () -> requireCurrent(name, version.orElse(null), person);
        LockId known = Requests.token(request.servletRequest())
                .map(token -> Requests.lockId(token, name))
                .orElse(null);
        if (known != null) {
            EditLocks.Held renewed = locks.renewIfHeld(known, person, clientId).orElse(null);
            if (renewed != null) {
                current.run();
                return granted(renewed, person);
            }
        }
        EditLocks.Held held = locks.open(name.type(), name.id(), person, clientId, note, current);
        if (!held.resumed()) {
            version.ifPresent(sent -> requireFresh(sent, name, held, person));
        }
        return granted(held, person);
    }

    /** Before anybody's lock is touched for a copy that is old already. */
    private void requireCurrent(LockName name, @Nullable String sent, Principal person) {
        if (sent == null) {
            return;
        }
        if (versions == null) {
            throw EditLockProblem.noVersions();
        }
        locks.find(name.type(), name.id(), person); // who may not edit does not get to know what is there
        String current = Etags.current(versions, name);
        if (!Etags.match(sent, current)) {
            throw EditLockProblem.staleVersion(null);
        }
    }

    /** Compared again after the lock was taken: what was compared before may have changed since. */
    private void requireFresh(String sent, LockName name, EditLocks.Held held, Principal person) {
        boolean fresh = false;
        try {
            requireCurrent(name, sent, person);
            fresh = true;
        } finally {
            if (!fresh) {
                locks.release(held.id(), person); // nobody else knows its id
            }
        }
    }

    private ServerResponse renew(ServerRequest request, Principal person) {
        EditLocks.Held held = locks.renew(lockId(request), person);
        Map<String, @Nullable Object> body = new LinkedHashMap<>();
        body.put("expiresInMs", held.expiresIn().toMillis());
        body.put("renewInMs", settings.renewInterval().toMillis());
        body.put("fence", held.fence());
        body.put("owner", person.getName()); // a page whose lock the server took learns it here
        return Answers.json(HttpStatus.OK, body);
    }

    private ServerResponse release(ServerRequest request, Principal person) {
        locks.release(lockId(request), person);
        return Answers.nothing();
    }

    private ServerResponse leave(ServerRequest request, Principal person) throws IOException {
        LockName name = name(request);
        Optional<String> token = Requests.token(request.servletRequest());
        if (token.isEmpty()) {
            token = beacon(request.servletRequest());
        }
        locks.leave(
                Requests.lockId(token.orElseThrow(() -> EditLockProblem.bad("The request carries no lock id.")), name),
                person);
        return Answers.nothing();
    }

    /** A beacon can't set a header: its body is a small JSON text, whatever it says it is. */
    private static Optional<String> beacon(HttpServletRequest request) throws IOException {
        byte[] body = request.getInputStream().readNBytes(MAX_BODY);
        Matcher matcher = TOKEN.matcher(new String(body, StandardCharsets.UTF_8));
        return matcher.find() ? Requests.present(matcher.group(1)) : Optional.empty();
    }

    private ServerResponse takeOver(ServerRequest request, Principal person) throws ServletException, IOException {
        LockName name = name(request);
        Map<String, @Nullable Object> body = fields(request);
        if (!(body.get("expectedFence") instanceof Number fence) || fence.doubleValue() != fence.longValue()) {
            throw EditLockProblem.bad("expectedFence must be the fence of the holder that you saw.");
        }
        String reason = required(body, "reason");
        if (reason.codePointCount(0, reason.length()) > MAX_REASON || !Requests.isStorable(reason)) {
            throw EditLockProblem.bad("The reason must be a text of at most " + MAX_REASON + " characters.");
        }
        Optional<String> version = Requests.version(request.servletRequest());
        requireCurrent(name, version.orElse(null), person);
        EditLocks.Held held = locks.takeOver(
                        name.type(),
                        name.id(),
                        person,
                        fence.longValue(),
                        reason,
                        text(body, "clientId"),
                        text(body, "note"))
                .orElseThrow(() -> EditLockProblem.fenceMoved(name));
        version.ifPresent(sent -> requireFresh(sent, name, held, person));
        return granted(held, person);
    }

    private ServerResponse events(ServerRequest request, Principal person) throws ServletException, IOException {
        String type = request.param("type").orElse(null);
        if (type == null && settings.types().isEmpty()) {
            throw EditLockProblem.bad("Say of which type: the settings name none.");
        }
        if (type != null) {
            Requests.name(type, "any");
        }
        if (type != null && !settings.types().isEmpty() && !settings.types().contains(type)) {
            throw EditLockProblem.denied("You may not see locks of this type.");
        }
        return feed.join(person, type, request.param("id").orElse(null));
    }

    private ServerResponse granted(EditLocks.Held held, Principal person) {
        Map<String, @Nullable Object> body = new LinkedHashMap<>();
        body.put("token", held.id().value());
        body.put("fence", held.fence());
        body.put("expiresInMs", held.expiresIn().toMillis());
        body.put("renewInMs", settings.renewInterval().toMillis());
        body.put("owner", person.getName());
        body.put("resumed", held.resumed());
        return Answers.json(held.resumed() ? HttpStatus.OK : HttpStatus.CREATED, body);
    }

    private static LockName name(ServerRequest request) {
        if (request.servletRequest().getRequestURI().indexOf(';') >= 0) {
            throw EditLockProblem.bad("A path of a lock has no parameters: write ';' as %3B.");
        }
        return Requests.name(request.pathVariable("type"), request.pathVariable("id"));
    }

    private static LockId lockId(ServerRequest request) {
        LockName name = name(request);
        return Requests.lockId(
                Requests.token(request.servletRequest()).orElseThrow(() -> EditLockProblem.required("Lock-Token")),
                name);
    }

    private static Map<String, @Nullable Object> fields(ServerRequest request) throws ServletException, IOException {
        MediaType type = request.headers().contentType().orElse(MediaType.APPLICATION_OCTET_STREAM);
        if (!type.equalsTypeAndSubtype(MediaType.APPLICATION_JSON)) {
            throw EditLockProblem.notJson();
        }
        long length = request.headers().contentLength().orElse(Long.MAX_VALUE);
        if (length > MAX_BODY) {
            throw EditLockProblem.tooLarge(MAX_BODY);
        }
        @Nullable Map<String, @Nullable Object> body;
        try {
            body = request.body(FIELDS);
        } catch (HttpMessageNotReadableException e) {
            body = null;
        }
        if (body == null) { // JSON's null, too
            throw EditLockProblem.bad("The body is no JSON object.");
        }
        return body;
    }

    private static String required(Map<String, @Nullable Object> body, String field) {
        return Requests.present(text(body, field))
                .orElseThrow(() -> EditLockProblem.bad("The field " + field + " is missing."));
    }

    private static @Nullable String text(Map<String, @Nullable Object> body, String field) {
        Object value = body.get(field);
        if (value != null && !(value instanceof String)) {
            throw EditLockProblem.bad("The field " + field + " must be a text.");
        }
        return (String) value;
    }
}
