// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;
import org.springframework.util.MimeType;

/**
 * The endpoint over HTTP. What is missing or wrong in a request is said in the answer, as a problem of RFC 9457: by itself, Boot
 * answers with a bare 400. So all that is sent is taken as an optional text here. Thread-safe.
 */
@EndpointWebExtension(endpoint = LocksEndpoint.class)
final class LocksWebExtension {

    private static final MimeType PROBLEM = MimeType.valueOf("application/problem+json");

    private final LocksEndpoint endpoint;

    LocksWebExtension(LocksEndpoint endpoint) {
        this.endpoint = endpoint;
    }

    @ReadOperation
    WebEndpointResponse<Object> locks(
            @Nullable String state,
            @Nullable String type,
            @Nullable String id,
            @Nullable String owner,
            @Nullable String afterType,
            @Nullable String afterId,
            @Nullable String limit) {
        return answered(() -> {
            @Nullable Long most = limit == null ? null : number("limit", limit);
            if (most != null && most != most.intValue()) {
                throw LocksEndpoint.bad("limit is too large: " + limit);
            }
            return endpoint.locks(
                    state, type, id, owner, afterType, afterId, most == null ? null : Integer.valueOf(most.intValue()));
        });
    }

    @ReadOperation
    WebEndpointResponse<Object> lock(@Selector(match = Match.ALL_REMAINING) String... path) {
        return answered(() -> endpoint.lock(path));
    }

    @WriteOperation
    WebEndpointResponse<Object> release(
            SecurityContext security,
            @Nullable String expectedFence,
            @Nullable String reason,
            @Selector(match = Match.ALL_REMAINING) String... path) {
        return answered(() -> {
            if (expectedFence == null) {
                throw LocksEndpoint.bad("expectedFence is missing: the fence of the lock that you saw");
            }
            if (reason == null) {
                throw LocksEndpoint.bad("reason is missing: why the lock is taken away");
            }
            return endpoint.release(security, number("expectedFence", expectedFence), reason, path);
        });
    }

    private static long number(String field, String text) {
        try {
            return Long.parseLong(text.strip());
        } catch (NumberFormatException e) {
            throw LocksEndpoint.bad(field + " must be a number, not '" + text + "'");
        }
    }

    private static WebEndpointResponse<Object> answered(Supplier<@Nullable Object> answer) {
        try {
            @Nullable Object body = answer.get();
            return body == null
                    ? new WebEndpointResponse<>(WebEndpointResponse.STATUS_NOT_FOUND)
                    : new WebEndpointResponse<>(body);
        } catch (InvalidEndpointRequestException e) {
            Map<String, Object> problem = new LinkedHashMap<>();
            problem.put("type", "urn:bitjang:bad-request");
            problem.put("title", "Bad request");
            problem.put("status", WebEndpointResponse.STATUS_BAD_REQUEST);
            problem.put("detail", e.getReason() + ".");
            return new WebEndpointResponse<>(problem, WebEndpointResponse.STATUS_BAD_REQUEST, PROBLEM);
        }
    }
}
