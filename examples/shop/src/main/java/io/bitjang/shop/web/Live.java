// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.web;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/**
 * Tells pages that something has changed, by server-sent events; each then fetches the part of it that is live, so that there is one
 * template for a page with JavaScript and one without. Many changes at once are told once. Thread-safe.
 */
@Controller
public class Live implements ApplicationListener<ContextClosedEvent> {

    /** What others change, too: looked at while anybody listens. */
    private static final Set<String> TICKING = Set.of("locks", "nodes");

    private static final Set<String> TOPICS = Set.of("locks", "nodes", "cards", "race");
    private static final Duration LONGEST = Duration.ofMinutes(5);
    private static final Duration TICK = Duration.ofMillis(500);
    private static final Duration PAUSE = Duration.ofMillis(60);
    private static final int TICKS_PER_BEAT = 30;
    private static final int MOST = 200;

    private final Map<String, Set<SseEmitter>> listeners = new ConcurrentHashMap<>();
    private final Set<String> pending = ConcurrentHashMap.newKeySet();
    private final AtomicInteger ticks = new AtomicInteger();
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(work -> {
        Thread made = new Thread(work, "live");
        made.setDaemon(true);
        return made;
    });

    Live() {
        TOPICS.forEach(topic -> listeners.put(topic, ConcurrentHashMap.newKeySet()));
        thread.scheduleWithFixedDelay(this::tick, TICK.toMillis(), TICK.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Listens to one topic. */
    @GetMapping(path = "/live/{topic}", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
    public SseEmitter listen(@PathVariable String topic) {
        Set<SseEmitter> all = listeners.get(topic);
        if (all == null) {
            throw new ResponseStatusException(HttpStatus.NOT_FOUND);
        }
        if (thread.isShutdown() || all.size() >= MOST) {
            throw new ResponseStatusException(HttpStatus.SERVICE_UNAVAILABLE);
        }
        SseEmitter emitter = new SseEmitter(LONGEST.toMillis());
        emitter.onCompletion(() -> all.remove(emitter));
        emitter.onTimeout(emitter::complete);
        emitter.onError(failure -> all.remove(emitter));
        all.add(emitter);
        changed(topic); // whatever happened since the page was made
        return emitter;
    }

    /** Something has changed. */
    public void changed(String topic) {
        if (pending.add(topic)) {
            try {
                thread.schedule(() -> tell(topic), PAUSE.toMillis(), TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException e) {
                pending.remove(topic); // the shop is closing
            }
        }
    }

    private void tell(String topic) {
        pending.remove(topic);
        of(topic)
                .forEach(emitter ->
                        send(topic, emitter, SseEmitter.event().name("changed").data("")));
    }

    private Set<SseEmitter> of(String topic) {
        return listeners.getOrDefault(topic, Set.of());
    }

    private void tick() {
        TICKING.stream().filter(topic -> !of(topic).isEmpty()).forEach(this::changed);
        if (ticks.incrementAndGet() % TICKS_PER_BEAT == 0) {
            listeners.forEach((topic, all) -> all.forEach(
                    emitter -> send(topic, emitter, SseEmitter.event().comment("still here"))));
        }
    }

    private void send(String topic, SseEmitter emitter, SseEmitter.SseEventBuilder event) {
        try {
            emitter.send(event);
        } catch (IOException | IllegalStateException e) {
            of(topic).remove(emitter); // the browser has gone
        }
    }

    /** An open stream would hold up the end of the server. */
    @Override
    public void onApplicationEvent(ContextClosedEvent event) {
        thread.shutdownNow();
        listeners.values().forEach(all -> all.forEach(SseEmitter::complete));
    }
}
