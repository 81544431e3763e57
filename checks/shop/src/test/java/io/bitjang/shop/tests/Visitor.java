// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.tests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.CookieManager;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Somebody without a browser, where none is needed. */
final class Visitor {
    private final HttpClient http = HttpClient.newBuilder()
            .cookieHandler(new CookieManager())
            .followRedirects(HttpClient.Redirect.NORMAL)
            .build();
    private final String address;

    /** Signs in. */
    Visitor(String address, String person) throws IOException, InterruptedException {
        this.address = address;
        assertThat(post("/login", Map.of("username", person, "password", person))
                        .statusCode())
                .isEqualTo(200);
        assertThat(get("/").body()).contains(">" + person + "<");
    }

    HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return http.send(request(path).build(), HttpResponse.BodyHandlers.ofString());
    }

    /** Without waiting for the answer. */
    CompletableFuture<HttpResponse<String>> begin(String path) {
        return http.sendAsync(request(path).build(), HttpResponse.BodyHandlers.ofString());
    }

    /** The beginning of something that does not end. */
    HttpResponse<InputStream> listen(String path) throws IOException, InterruptedException {
        return http.send(
                request(path).setHeader("Accept", "text/event-stream").build(),
                HttpResponse.BodyHandlers.ofInputStream());
    }

    /** With the token against forgery, and what comes after the redirect. */
    HttpResponse<String> post(String path, Map<String, String> form) throws IOException, InterruptedException {
        Matcher token = Pattern.compile("name=\"_csrf\" content=\"([^\"]+)\"")
                .matcher(get("/login").body());
        assertThat(token.find()).isTrue();
        String body = form.entrySet().stream()
                .map(each -> "&" + each.getKey() + "=" + URLEncoder.encode(each.getValue(), StandardCharsets.UTF_8))
                .collect(Collectors.joining());
        return http.send(
                request(path)
                        .header("Content-Type", "application/x-www-form-urlencoded")
                        .POST(HttpRequest.BodyPublishers.ofString("_csrf=" + token.group(1) + body))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(address + path))
                .header("Accept", "text/html")
                .header("Accept-Language", "en");
    }

    /** A hidden field of a page. */
    static String field(HttpResponse<String> page, String name) {
        Matcher found = Pattern.compile("name=\"" + name + "\"[^>]*? value=\"([^\"]*)\"")
                .matcher(page.body());
        assertThat(found.find()).as("a field %s in %s", name, page.body()).isTrue();
        return found.group(1);
    }
}
