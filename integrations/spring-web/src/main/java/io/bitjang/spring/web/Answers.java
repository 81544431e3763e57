// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.http.CacheControl;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.web.servlet.function.ServerResponse;

/** What is sent back; never kept by a cache. */
final class Answers {

    private Answers() {}

    static ServerResponse json(HttpStatus status, Map<String, @Nullable Object> body) {
        return written(status, new HttpHeaders(), MediaType.APPLICATION_JSON, Json.of(body));
    }

    static ServerResponse nothing() {
        return ServerResponse.noContent().cacheControl(CacheControl.noStore()).build();
    }

    static ServerResponse problem(EditLockProblem problem) {
        return written(
                problem.getStatusCode(),
                problem.getHeaders(),
                MediaType.APPLICATION_PROBLEM_JSON,
                Json.of(problem.getBody()));
    }

    private static ServerResponse written(HttpStatusCode status, HttpHeaders extra, MediaType type, String body) {
        return ServerResponse.status(status)
                .headers(headers -> headers.putAll(extra))
                .cacheControl(CacheControl.noStore())
                .contentType(type)
                .build((request, response) -> {
                    response.getOutputStream().write(body.getBytes(StandardCharsets.US_ASCII));
                    return null;
                });
    }
}
