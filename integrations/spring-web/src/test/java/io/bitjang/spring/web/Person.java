// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import tools.jackson.databind.json.JsonMapper;

/** Someone with a browser tab; without a name, someone who is not signed in. */
final class Person {

    static final String BASE = "/bitjang/edit-locks";
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final JsonMapper JSON = new JsonMapper();

    /** What came back. */
    record Answer(int status, Map<String, List<String>> headers, String text) {

        @SuppressWarnings("unchecked")
        Map<String, Object> json() {
            return JSON.readValue(text, LinkedHashMap.class);
        }

        Object get(String field) {
            return json().get(field);
        }

        String header(String name) {
            return String.join(",", headers.getOrDefault(name.toLowerCase(Locale.ROOT), List.of()));
        }

        String token() {
            return (String) get("token");
        }

        long fence() {
            return ((Number) get("fence")).longValue();
        }

        Answer is(int expected) {
            assertThat(status).as(text).isEqualTo(expected);
            return this;
        }

        /** A problem of this type, as RFC 9457 has it. */
        Answer isProblem(int expected, String type) {
            is(expected);
            assertThat(header("content-type")).startsWith("application/problem+json");
            assertThat(header("cache-control")).contains("no-store");
            assertThat(json()).containsEntry("type", "urn:bitjang:" + type).containsEntry("status", expected);
            assertThat((String) get("title")).isNotBlank();
            assertThat((String) get("detail")).endsWith(".");
            return this;
        }
    }

    final EditServer server;
    final String name;

    Person(EditServer server, String name) {
        this.server = server;
        this.name = name;
    }

    Answer get(String path) {
        return send("GET", path, null);
    }

    Answer take(String path, String clientId, String... headers) {
        return send("PUT", path, "{\"clientId\":\"" + clientId + "\"}", headers);
    }

    Answer renew(String path, String token) {
        return send("PATCH", path, null, "Lock-Token", token);
    }

    Answer release(String path, String token) {
        return send("DELETE", path, null, "Lock-Token", token);
    }

    Answer leave(String path, String token) {
        return send("POST", path + "/leave", null, "Lock-Token", token);
    }

    Answer takeOver(String path, long fence, String clientId) {
        return send(
                "POST",
                path + "/takeover",
                "{\"expectedFence\":" + fence + ",\"reason\":\"needed\",\"clientId\":\"" + clientId + "\"}");
    }

    /** With the sign-in and the cross-site token; below the base path unless it begins with two slashes. */
    Answer send(String method, String path, String body, String... headers) {
        return exchange(request(path, headers)
                .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
                .build());
    }

    HttpRequest.Builder request(String path, String... headers) {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(server.uri(path.startsWith("//") ? path.substring(1) : BASE + path));
        request.header("Cookie", "XSRF-TOKEN=0123456789").header("X-XSRF-TOKEN", "0123456789");
        request.header("Content-Type", "application/json");
        if (name != null) {
            byte[] credentials = (name + ":" + name).getBytes(StandardCharsets.UTF_8);
            request.header("Authorization", "Basic " + Base64.getEncoder().encodeToString(credentials));
        }
        for (int i = 0; i < headers.length; i += 2) {
            request.setHeader(headers[i], headers[i + 1]);
        }
        return request;
    }

    static Answer exchange(HttpRequest request) {
        try {
            // the client's own limit does not cover a body that never ends
            HttpResponse<String> response = CLIENT.sendAsync(request, HttpResponse.BodyHandlers.ofString())
                    .get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            return new Answer(response.statusCode(), response.headers().map(), response.body());
        } catch (ExecutionException | TimeoutException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
