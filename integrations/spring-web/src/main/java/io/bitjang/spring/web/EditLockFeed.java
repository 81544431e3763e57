// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import io.bitjang.LockData;
import io.bitjang.LockName;
import io.bitjang.admin.LockAdmin;
import io.bitjang.admin.LockFilter;
import java.io.IOException;
import java.security.Principal;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.http.HttpHeaders;
import org.springframework.web.servlet.function.ServerResponse;
import org.springframework.web.servlet.function.ServerResponse.SseBuilder;

/**
 * Tells browsers what has changed. While anybody listens, one thread of this node looks at the locks that are held and compares
 * them with what it saw before; what this node changes itself makes it look at once. It writes to all listeners, one after the
 * other: what it writes is small, so only a connection that has been dead for long can hold it up, until the server gives that up.
 *
 * <p>All but the set of listeners belongs to that one thread. Thread-safe.
 */
final class EditLockFeed implements ApplicationListener<ContextClosedEvent> {

    /** A browser asks again after that, and its sign-in is checked anew. */
    private static final Duration LONGEST = Duration.ofMinutes(5);

    private static final Duration HEARTBEAT = Duration.ofSeconds(15);
    private static final Duration RETRY = Duration.ofSeconds(3);
    private static final int PAGE = 1000;

    /** So many tabs of one person may listen. */
    private static final int MOST_OF_ONE = 50;

    private static final Log LOG = LogFactory.getLog(EditLockFeed.class);

    private record Seen(long fence, @Nullable String owner) {}

    private record Listener(
            SseBuilder out,
            Principal person,
            Set<String> types,
            @Nullable String id) {

        boolean wants(LockName name) {
            return types.contains(name.type()) && (id == null || id.equals(name.id()));
        }
    }

    private final LockAdmin admin;
    private final EditLockPolicy policy;
    private final EditLockSettings settings;
    private final ApplicationContext context;
    private final ScheduledThreadPoolExecutor thread;
    private final Set<Listener> listeners = ConcurrentHashMap.newKeySet();
    private final AtomicInteger places = new AtomicInteger();
    private final AtomicBoolean looking = new AtomicBoolean();
    private final Map<String, Map<LockName, Seen>> known = new HashMap<>();
    private final long roundsPerBeat;
    private long rounds;
    private boolean going;
    private boolean failing;

    EditLockFeed(LockAdmin admin, EditLockPolicy policy, EditLockSettings settings, ApplicationContext context) {
        this.admin = admin;
        this.policy = policy;
        this.settings = settings;
        this.context = context;
        this.roundsPerBeat =
                Math.max(1, HEARTBEAT.toMillis() / settings.pollInterval().toMillis());
        this.thread = new ScheduledThreadPoolExecutor(1, work -> {
            Thread made = new Thread(work, "bitjang-edit-lock-feed");
            made.setDaemon(true);
            return made;
        });
        thread.setKeepAliveTime(1, TimeUnit.SECONDS);
        thread.allowCoreThreadTimeOut(true); // no thread while nobody listens
        thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    /** Lets this person listen, for all types or one, for all ids or one. */
    ServerResponse join(Principal person, @Nullable String type, @Nullable String id) {
        Set<String> types = type == null ? settings.types() : Set.of(type);
        long own = listeners.stream()
                .filter(each -> each.person.getName().equals(person.getName()))
                .count();
        if (places.get() >= settings.maxListeners() || own >= MOST_OF_ONE || thread.isShutdown()) {
            throw EditLockProblem.tooManyListeners();
        }
        return ServerResponse.ok()
                .build((request, response) -> ServerResponse.sse(
                                out -> {
                                    response.setHeader(HttpHeaders.CACHE_CONTROL, "no-store");
                                    response.setHeader("X-Accel-Buffering", "no"); // or a proxy keeps it for itself
                                    start(new Listener(out, person, types, id));
                                },
                                LONGEST)
                        .writeTo(request, response, List::of));
    }

    private void start(Listener listener) {
        places.incrementAndGet();
        listener.out.onTimeout(listener.out::complete);
        listener.out.onError(failure -> listeners.remove(listener));
        listener.out.onComplete(() -> {
            listeners.remove(listener);
            places.decrementAndGet();
        });
        try {
            thread.execute(() -> add(listener));
        } catch (RejectedExecutionException e) {
            listener.out.complete(); // the application ends
        }
    }

    private void add(Listener listener) {
        listeners.add(listener);
        look(); // what was before is no change
        send(listener, out -> out.retry(RETRY).comment("ready").send());
        if (!going) {
            going = true;
            goOn();
        }
    }

    /** Again and again, as long as somebody listens. */
    private void goOn() {
        thread.schedule(this::round, settings.pollInterval().toMillis(), TimeUnit.MILLISECONDS);
    }

    private void round() {
        going = !listeners.isEmpty();
        if (going) {
            look();
            if (++rounds % roundsPerBeat == 0) {
                listeners.forEach(
                        listener -> send(listener, out -> out.comment("").send()));
            }
            goOn();
        }
    }

    /** How many listen. */
    int listening() {
        return places.get();
    }

    /** Something has changed on this node: look now. */
    void wake() {
        if (!listeners.isEmpty() && looking.compareAndSet(false, true)) {
            try {
                thread.execute(() -> {
                    looking.set(false);
                    look();
                });
            } catch (RejectedExecutionException e) {
                LOG.trace("The application ends: nobody listens any more.");
            }
        }
    }

    private void look() {
        Set<String> types = new TreeSet<>();
        listeners.forEach(listener -> types.addAll(listener.types));
        known.keySet().retainAll(types);
        boolean failed = false;
        for (String type : types) {
            try {
                Map<LockName, Seen> now = held(type);
                Map<LockName, Seen> before = known.put(type, now);
                if (before != null) {
                    compare(before, now);
                }
            } catch (RuntimeException e) { // one type's is not to silence the others, and the rounds must go on
                failed = true;
                if (!failing) {
                    LOG.warn("Listeners hear of no changes of edit locks: looking for them failed, and goes on.", e);
                }
            }
        }
        failing = failed;
    }

    private Map<LockName, Seen> held(String type) {
        Map<LockName, Seen> held = new TreeMap<>();
        LockFilter next = LockFilter.held().ofType(type).limit(PAGE);
        while (true) {
            List<LockData> page = admin.list(next);
            page.forEach(data -> held.put(data.name(), new Seen(data.fence(), data.owner())));
            if (page.size() < PAGE) {
                return held;
            }
            next = next.after(page.get(page.size() - 1).name());
        }
    }

    private void compare(Map<LockName, Seen> before, Map<LockName, Seen> now) {
        now.forEach((name, seen) -> {
            if (!seen.equals(before.get(name))) {
                tell(name, seen, true);
            }
        });
        before.forEach((name, seen) -> {
            if (!now.containsKey(name)) {
                tell(name, seen, false);
            }
        });
    }

    private void tell(LockName name, Seen seen, boolean held) {
        Map<String, @Nullable Object> body = new LinkedHashMap<>();
        body.put("type", name.type());
        body.put("id", name.id());
        body.put("held", held);
        body.put("owner", held ? seen.owner() : null);
        body.put("fence", seen.fence());
        String json = Json.of(body);
        for (Listener listener : listeners) {
            if (listener.wants(name) && maySee(listener, name)) {
                send(listener, out -> out.data(json));
            }
        }
    }

    /** What the application's policy throws concerns one listener, and is a no. */
    private boolean maySee(Listener listener, LockName name) {
        try {
            return policy.mayEdit(listener.person, name);
        } catch (RuntimeException e) {
            LOG.warn("The EditLockPolicy failed for a listener, who hears nothing of " + name.type() + " locks", e);
            return false;
        }
    }

    private interface Writing {
        void to(SseBuilder out) throws IOException;
    }

    private void send(Listener listener, Writing writing) {
        try {
            writing.to(listener.out);
        } catch (IOException | RuntimeException e) {
            LOG.trace("A listener has gone.", e);
            listeners.remove(listener);
        }
    }

    /** Open connections would hold up the server's shutdown. */
    @Override
    public void onApplicationEvent(ContextClosedEvent event) {
        if (!event.getApplicationContext().equals(context)) {
            return; // of a child
        }
        thread.shutdown();
        try {
            // what it writes now is not to be mixed up with the end
            if (!thread.awaitTermination(1, TimeUnit.SECONDS)) {
                LOG.debug("A listener is slow; ending it anyway.");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        listeners.forEach(listener -> listener.out.complete());
    }
}
