// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.http.ProblemDetail;

/**
 * Writes flat objects. The answers carry a secret and their fields are a contract with the browser: so neither the application's
 * naming of properties nor a log line about what is written has a part in them.
 */
final class Json {

    private Json() {}

    static String of(ProblemDetail problem) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("type", String.valueOf(problem.getType()));
        fields.put("title", problem.getTitle());
        fields.put("status", problem.getStatus());
        fields.put("detail", problem.getDetail());
        if (problem.getProperties() != null) {
            fields.putAll(problem.getProperties());
        }
        return of(fields);
    }

    static String of(Map<String, @Nullable Object> fields) {
        return fields.entrySet().stream()
                .map(field -> text(field.getKey()) + ":" + value(field.getValue()))
                .collect(Collectors.joining(",", "{", "}"));
    }

    private static String value(@Nullable Object value) {
        return value == null || value instanceof Number || value instanceof Boolean
                ? String.valueOf(value)
                : text(value.toString());
    }

    /** Everything but plain ASCII is escaped, so that no charset can change it. */
    private static String text(String value) {
        StringBuilder json = new StringBuilder("\"");
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&') {
                json.append("\\u");
                String hex = Integer.toHexString(c);
                json.append("0000", 0, 4 - hex.length()).append(hex);
            } else {
                json.append(c);
            }
        }
        return json.append('"').toString();
    }
}
