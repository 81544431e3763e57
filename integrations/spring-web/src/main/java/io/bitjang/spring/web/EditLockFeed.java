// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import io.bitjang.LockName;
import io.bitjang.admin.LockAdmin;
import java.security.Principal;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
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
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.function.ServerResponse;
import org.springframework.web.servlet.function.ServerResponse.SseBuilder;

/**
 * Tells browsers what has changed. While anybody listens, one thread of this node looks at the locks that are held and compares
 * them with what it saw before; what this node changes itself makes it look at once, but not more often than ten times a second. It
 * never writes: others do, as many more as there are listeners that don't read.
 *
 * <p>All but the listeners and their places belongs to that one thread. Thread-safe.
 */
final class EditLockFeed implements ApplicationListener<ContextClosedEvent> {

    /** A browser asks again after that, and its sign-in is checked anew. */
    private static final Duration LONGEST = Duration.ofMinutes(5);

    private static final Duration HEARTBEAT = Duration.ofSeconds(15);
    private static final Duration RETRY = Duration.ofSeconds(3);
    private static final long BETWEEN_LOOKS = TimeUnit.MILLISECONDS.toNanos(100);

    /** Up to so many single locks are looked up one by one; where there are more, the whole type is. */
    private static final int FEW = 20;

    /** So many threads write while all listeners read. */
    private static final int WRITERS = 2;

    /** A listener to whom something has been written for this long has a thread of its own. */
    private static final long STUCK = TimeUnit.MILLISECONDS.toNanos(200);

    private static final Log LOG = LogFactory.getLog(EditLockFeed.class);

    private final LockAdmin admin;
    private final EditLockPolicy policy;
    private final EditLockSettings settings;
    private final ApplicationContext context;
    private final ScheduledThreadPoolExecutor thread;
    private final ThreadPoolExecutor writers;
    private final Set<EditLockListener> listeners = ConcurrentHashMap.newKeySet();
    private final AtomicInteger places = new AtomicInteger();
    private final Map<String, Integer> placesOfOne = new ConcurrentHashMap<>();
    private final AtomicBoolean looking = new AtomicBoolean();
    private final Map<String, EditLockView> known = new HashMap<>();
    private final Set<String> cut = new HashSet<>();
    private final long roundsPerBeat;
    private long rounds;
    private long lastLook = System.nanoTime() - BETWEEN_LOOKS;
    private boolean going;
    private boolean relieving;
    private boolean failing;

    EditLockFeed(LockAdmin admin, EditLockPolicy policy, EditLockSettings settings, ApplicationContext context) {
        this.admin = admin;
        this.policy = policy;
        this.settings = settings;
        this.context = context;
        this.roundsPerBeat =
                Math.max(1, HEARTBEAT.toMillis() / settings.pollInterval().toMillis());
        this.thread = new ScheduledThreadPoolExecutor(1, work -> daemon(work, "bitjang-edit-lock-feed"));
        thread.setKeepAliveTime(1, TimeUnit.SECONDS);
        thread.allowCoreThreadTimeOut(true); // no thread while nobody listens
        thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        this.writers = new ThreadPoolExecutor(
                WRITERS,
                WRITERS + settings.limits().listeners(),
                1,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(), // with one entry for each listener at most
                work -> daemon(work, "bitjang-edit-lock-writer"));
        writers.allowCoreThreadTimeOut(true);
    }

    private static Thread daemon(Runnable work, String name) {
        Thread made = new Thread(work, name);
        made.setDaemon(true);
        return made;
    }

    /** Lets this person listen, for all types or one, for all ids or one. */
    ServerResponse join(Principal person, @Nullable String type, @Nullable String id) {
        Set<String> types = type == null ? settings.types() : Set.of(type);
        Runnable leave = takePlace(person.getName());
        return ServerResponse.ok().build((request, response) -> {
            boolean written = false;
            try {
                ModelAndView none = ServerResponse.sse(
                                out -> {
                                    response.setHeader(HttpHeaders.CACHE_CONTROL, "no-store");
                                    response.setHeader("X-Accel-Buffering", "no"); // or a proxy keeps it for itself
                                    start(out, new EditLockListener(out, person, types, id, writers), leave);
                                },
                                LONGEST)
                        .writeTo(request, response, List::of);
                written = true;
                return none;
            } finally {
                if (!written) {
                    leave.run();
                }
            }
        });
    }

    /** Counts and takes in one step: those who come at the same time get no more places than there are. */
    private Runnable takePlace(String person) {
        int most = settings.limits().listenersPerPerson();
        AtomicBoolean taken = new AtomicBoolean();
        placesOfOne.compute(person, (name, count) -> {
            taken.set(count == null || count < most);
            return taken.get() ? Integer.valueOf(count == null ? 1 : count + 1) : count;
        });
        if (!taken.get()) {
            throw EditLockProblem.tooManyListenersOfOne(most);
        }
        Runnable leave = () -> {
            if (taken.compareAndSet(true, false)) {
                places.decrementAndGet();
                placesOfOne.computeIfPresent(person, (name, count) -> count == 1 ? null : count - 1);
            }
        };
        if (places.incrementAndGet() > settings.limits().listeners() || thread.isShutdown()) {
            leave.run();
            throw EditLockProblem.tooManyListeners();
        }
        return leave;
    }

    private void start(SseBuilder out, EditLockListener listener, Runnable leave) {
        out.onTimeout(out::complete);
        out.onError(failure -> listeners.remove(listener));
        out.onComplete(() -> {
            listeners.remove(listener);
            leave.run();
        });
        try {
            thread.execute(() -> add(listener));
        } catch (RejectedExecutionException e) {
            out.complete(); // the application ends
        }
    }

    private void add(EditLockListener listener) {
        listeners.add(listener);
        if (!going) {
            goOn(); // first, whatever fails below
        }
        look(); // what was before is no change
        listener.send(out -> out.retry(RETRY).comment("ready").send());
        relieve();
    }

    /** Again and again, as long as somebody listens. */
    private void goOn() {
        thread.schedule(this::round, settings.pollInterval().toMillis(), TimeUnit.MILLISECONDS);
        going = true;
    }

    private void round() {
        going = false;
        if (listeners.isEmpty()) {
            return;
        }
        try {
            look();
            if (++rounds % roundsPerBeat == 0) {
                listeners.forEach(
                        listener -> listener.sendIfIdle(out -> out.comment("").send()));
                relieve();
            }
        } catch (Throwable e) { // the executor would keep it to itself
            LOG.warn("A look for changes of edit locks failed; the next one comes.", e);
        } finally {
            goOn();
        }
    }

    /** As many more threads as there are listeners that hold one up; for as long as somebody waits for a thread. */
    private void relieve() {
        relieving = false;
        long stuck = listeners.stream().filter(each -> each.isStuck(STUCK)).count();
        writers.setCorePoolSize((int) Math.min(writers.getMaximumPoolSize(), WRITERS + stuck));
        if (!writers.getQueue().isEmpty()) {
            relieving = true;
            thread.schedule(this::relieve, STUCK, TimeUnit.NANOSECONDS);
        }
    }

    /** How many listen. */
    int listening() {
        return places.get();
    }

    /** Something has changed on this node: look now, or soon after the last look. */
    void wake() {
        if (!listeners.isEmpty() && looking.compareAndSet(false, true)) {
            try {
                thread.execute(this::lookSoon);
            } catch (RejectedExecutionException e) {
                LOG.trace("The application ends: nobody listens any more.");
            } catch (Throwable e) { // who has changed a lock is not to fail for it
                looking.set(false);
                LOG.warn("Listeners hear of a change of edit locks at the next look only.", e);
            }
        }
    }

    private void lookSoon() {
        long pause = lastLook + BETWEEN_LOOKS - System.nanoTime();
        if (pause > 0) {
            thread.schedule(this::lookSoon, pause, TimeUnit.NANOSECONDS);
        } else {
            looking.set(false);
            look();
        }
    }

    private void look() {
        lastLook = System.nanoTime();
        Set<String> types = new TreeSet<>();
        listeners.stream().filter(each -> !each.isDeaf()).forEach(each -> types.addAll(each.types()));
        known.keySet().retainAll(types);
        boolean failed = false;
        for (String type : types) {
            try {
                EditLockView now = view(type);
                EditLockView before = known.put(type, now);
                if (before != null) {
                    compare(before, now);
                }
            } catch (Throwable e) { // one type's is not to silence the others, and the rounds must go on
                failed = true;
                if (!failing) {
                    LOG.warn("Listeners hear of no changes of edit locks: looking for them failed, and goes on.", e);
                }
            }
        }
        failing = failed;
        if (!relieving) {
            relieve();
        }
    }

    private EditLockView view(String type) {
        boolean whole = false;
        Set<LockName> singles = new HashSet<>();
        for (EditLockListener listener : hearing(type)) {
            String id = listener.id();
            if (id == null) {
                whole = true;
            } else {
                singles.add(LockName.of(type, id));
            }
        }
        if (!whole && singles.size() <= FEW) {
            return EditLockView.of(admin, singles);
        }
        EditLockView view = EditLockView.of(admin, type, settings.limits().watched(), singles);
        if (!view.isCut()) {
            cut.remove(type);
        } else if (cut.add(type)) {
            LOG.warn("More than " + settings.limits().watched() + " locks of the type " + type
                    + " are held: who listens to the whole type hears of the first of them only.");
        }
        return view;
    }

    private List<EditLockListener> hearing(String type) {
        return listeners.stream()
                .filter(each -> !each.isDeaf() && each.types().contains(type))
                .toList();
    }

    private void compare(EditLockView before, EditLockView now) {
        now.held().forEach((name, seen) -> {
            if (before.covers(name) && !seen.equals(before.held().get(name))) {
                tell(name, seen, true);
            }
        });
        before.held().forEach((name, seen) -> {
            if (now.covers(name) && !now.held().containsKey(name)) {
                tell(name, seen, false);
            }
        });
    }

    private void tell(LockName name, EditLockView.Seen seen, boolean held) {
        Map<String, @Nullable Object> body = new LinkedHashMap<>();
        body.put("type", name.type());
        body.put("id", name.id());
        body.put("held", held);
        body.put("owner", held ? seen.owner() : null);
        body.put("fence", seen.fence());
        String json = Json.of(body);
        for (EditLockListener listener : listeners) {
            if (listener.wants(name) && maySee(listener, name)) {
                listener.send(out -> out.data(json));
            }
        }
    }

    /**
     * What the application's policy throws concerns one listener, and is a no. Errors, too, and checked exceptions that Kotlin need
     * not declare: they would end the look for everyone.
     */
    private boolean maySee(EditLockListener listener, LockName name) {
        try {
            return policy.mayEdit(listener.person(), name);
        } catch (Throwable e) {
            LOG.warn("The EditLockPolicy failed for a listener, who hears nothing of " + name.type() + " locks", e);
            return false;
        }
    }

    /** Open connections would hold up the server's shutdown. */
    @Override
    public void onApplicationEvent(ContextClosedEvent event) {
        if (!event.getApplicationContext().equals(context)) {
            return; // of a child
        }
        thread.shutdown();
        writers.shutdown();
        try {
            // what is written now is not to be mixed up with the end
            if (!thread.awaitTermination(1, TimeUnit.SECONDS) || !writers.awaitTermination(1, TimeUnit.SECONDS)) {
                LOG.debug("A listener is slow; ending it anyway.");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        listeners.forEach(EditLockListener::end);
    }
}
