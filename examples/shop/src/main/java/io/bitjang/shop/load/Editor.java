// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.load;

import java.io.IOException;
import java.net.CookieManager;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A person with a browser, made of HTTP: opens an order, thinks, counts one on, saves. */
final class Editor implements Runnable {

    private static final Pattern FIELD = Pattern.compile("name=\"(_csrf|lid|version)\"[^>]*? value=\"([^\"]*)\"");
    /** In letters that a database may not know unless it was told so. */
    static final String RECEIVER = "김민지";

    private static final Pattern COUNT = Pattern.compile("count=(\\d+)");
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final HttpClient http;
    private final String address;
    private final String name;
    private final int orders;
    private final Duration duration;
    private final CountDownLatch signedIn;
    private final Tally tally;
    private final String tab = UUID.randomUUID().toString();

    Editor(
            HttpClient.Builder http,
            String address,
            int number,
            int orders,
            Duration duration,
            CountDownLatch signedIn,
            Tally tally) {
        this.http = http.cookieHandler(new CookieManager()).build();
        this.address = address;
        this.name = "editor-" + number;
        this.orders = orders;
        this.duration = duration;
        this.signedIn = signedIn;
        this.tally = tally;
    }

    @Override
    public void run() {
        try {
            signIn();
            signedIn.countDown();
            signedIn.await();
            long until = System.nanoTime() + duration.toNanos();
            while (System.nanoTime() < until) {
                edit(Load.FIRST_ORDER + ThreadLocalRandom.current().nextInt(orders));
                think();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException | RuntimeException e) {
            tally.broke(name, e);
            signedIn.countDown(); // the others need not wait for this one
        }
    }

    private void signIn() throws IOException, InterruptedException {
        String token = field(get("/login").body(), "_csrf");
        expect(200, post("/login", Map.of("_csrf", token, "username", name, "password", name)));
    }

    private void edit(int order) throws IOException, InterruptedException {
        HttpResponse<String> page = get("/orders/" + order);
        HttpResponse<String> opened =
                post("/orders/" + order + "/edit", Map.of("_csrf", field(page.body(), "_csrf"), "clientId", tab));
        if (opened.statusCode() == 423) {
            tally.refused();
            return;
        }
        String body = expect(200, opened).body();
        Matcher count = COUNT.matcher(body);
        if (!count.find()) {
            throw new IllegalStateException("No count in the form of order " + order);
        }
        think();
        int next = Integer.parseInt(count.group(1)) + 1;
        HttpResponse<String> saved = post(
                "/orders/" + order,
                Map.of(
                        "_csrf",
                        field(body, "_csrf"),
                        "lid",
                        field(body, "lid"),
                        "version",
                        field(body, "version"),
                        "receiver",
                        RECEIVER,
                        "address",
                        "count=" + next,
                        "message",
                        ""));
        expect(200, saved);
        tally.saved(order);
    }

    private void think() throws InterruptedException {
        TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextInt(500, 2_000));
    }

    private HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(URI.create(address + path)).GET());
    }

    /** Follows the redirect that comes after it, as a browser does. */
    private HttpResponse<String> post(String path, Map<String, String> form) throws IOException, InterruptedException {
        String body = form.entrySet().stream()
                .map(each -> each.getKey() + "=" + URLEncoder.encode(each.getValue(), StandardCharsets.UTF_8))
                .collect(Collectors.joining("&"));
        return send(HttpRequest.newBuilder(URI.create(address + path))
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(HttpRequest.BodyPublishers.ofString(body)));
    }

    private HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        long sent = System.nanoTime();
        HttpResponse<String> response = answer(
                http.sendAsync(request.header("Accept", "text/html").build(), HttpResponse.BodyHandlers.ofString()));
        if (signedIn.getCount() == 0) {
            tally.page(System.nanoTime() - sent);
        }
        return response;
    }

    /**
     * Not by the client's own time limit: in JDK 17, that of a request which was redirected goes on after its answer, and closes the
     * connection while it is used for another one.
     */
    private static HttpResponse<String> answer(CompletableFuture<HttpResponse<String>> sent)
            throws IOException, InterruptedException {
        try {
            return sent.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new IOException("No answer in " + PATIENCE.toSeconds() + " s", e);
        } catch (ExecutionException e) {
            throw new IOException(e.getCause());
        }
    }

    private static HttpResponse<String> expect(int status, HttpResponse<String> response) {
        if (response.statusCode() != status) {
            throw new IllegalStateException(response.request().uri() + " answered " + response.statusCode());
        }
        return response;
    }

    private static String field(String page, String name) {
        Matcher matcher = FIELD.matcher(page);
        while (matcher.find()) {
            if (matcher.group(1).equals(name)) {
                return matcher.group(2);
            }
        }
        throw new IllegalStateException("The page has no field " + name);
    }
}
