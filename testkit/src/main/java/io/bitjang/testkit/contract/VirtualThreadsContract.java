// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Lease;
import io.bitjang.Wait;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Waiting on virtual threads, where the JVM has them; on an older one the same on threads of its own. */
public abstract class VirtualThreadsContract extends OnObservedLocks {

    private static final boolean VIRTUAL = Runtime.version().feature() >= 21;

    private static ExecutorService executor() throws ReflectiveOperationException {
        return VIRTUAL
                ? (ExecutorService) Executors.class
                        .getMethod("newVirtualThreadPerTaskExecutor")
                        .invoke(null)
                : Executors.newCachedThreadPool();
    }

    private static boolean isVirtual(Thread thread) throws ReflectiveOperationException {
        return VIRTUAL && (Boolean) Thread.class.getMethod("isVirtual").invoke(thread);
    }

    @Test
    void a_hundred_virtual_threads_wait_and_none_is_pinned_by_the_library(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("pinned.jfr");
        ExecutorService threads = executor();
        try (Recording recording = new Recording()) {
            // once before it counts: a class that is loaded pins whoever needs it, and that is the JVM's doing
            waitOnAll(threads);
            recording.enable("jdk.VirtualThreadPinned").withoutThreshold().withStackTrace();
            recording.start();
            waitOnAll(threads);
            recording.stop();
            recording.dump(file);
        } finally {
            threads.shutdown();
            assertThat(threads.awaitTermination(Crew.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
        }

        assertThat(Files.size(file)).isPositive();
        assertThat(RecordingFile.readAllEvents(file).stream()
                        .filter(event -> event.getEventType().getName().equals("jdk.VirtualThreadPinned"))
                        .filter(VirtualThreadsContract::isPinnedByTheLibrary))
                .isEmpty();
    }

    private void waitOnAll(ExecutorService threads) throws Exception {
        Lease held = other.lease(name("job")).acquire(Wait.none());
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger started = new AtomicInteger();
        List<Future<Boolean>> waiters = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            Callable<Boolean> waits = () -> {
                started.incrementAndGet();
                try (Lease lease = node.lease(name("job")).acquire(Wait.upTo(Crew.PATIENCE))) {
                    assertThat(inside.incrementAndGet()).isEqualTo(1);
                    inside.decrementAndGet();
                    return isVirtual(Thread.currentThread());
                }
            };
            waiters.add(threads.submit(waits));
        }
        // all of them at once: those that pin a carrier would keep the others from even starting
        Crew.eventually("all wait", () -> started.get() == 100);
        held.close();
        for (Future<Boolean> waiter : waiters) {
            assertThat(waiter.get(Crew.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo(VIRTUAL);
        }
    }

    /** The innermost frame outside the JDK is ours: not that of a driver or of the pool. */
    private static boolean isPinnedByTheLibrary(RecordedEvent event) {
        if (event.getStackTrace() == null) {
            return false;
        }
        List<String> types = event.getStackTrace().getFrames().stream()
                .map(RecordedFrame::getMethod)
                .map(method -> method.getType().getName())
                .toList();
        boolean loadsAClass = types.stream().anyMatch(type -> type.startsWith("jdk.internal.loader."));
        return !loadsAClass
                && types.stream()
                        .filter(type ->
                                !type.startsWith("java.") && !type.startsWith("jdk.") && !type.startsWith("sun."))
                        .findFirst()
                        .filter(type -> type.startsWith("io.bitjang.") && !type.startsWith("io.bitjang.testkit."))
                        .isPresent();
    }
}
