// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A small shell script that sends signals to a child process and, when this JVM ends and the pipe to it closes, kills the child,
 * which could not do so itself while it is stopped.
 */
final class Guardian implements AutoCloseable {

    private static final String SCRIPT = """
            trap '' INT HUP TERM
            while read -r signal; do
              [ "$signal" = done ] && exit 0
              kill -"$signal" $1
              echo sent
            done
            kill -KILL $1
            """;

    private final ReentrantLock lock = new ReentrantLock();
    private final Process child;
    private final OsProcess process;
    private final Writer orders;
    private final BufferedReader answers;

    private Guardian(Process child, Process script) {
        this.child = child;
        this.process = new OsProcess(child.pid(), 0);
        this.orders = script.outputWriter(StandardCharsets.US_ASCII);
        this.answers = script.inputReader(StandardCharsets.US_ASCII);
    }

    static Guardian of(Process child) throws IOException {
        Process script = new ProcessBuilder("sh", "-c", SCRIPT, "bitjang-guardian", Long.toString(child.pid()))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        Guardian guardian = new Guardian(child, script);
        // The process id may go to someone else after the child's end.
        child.onExit().thenRun(guardian::close);
        return guardian;
    }

    /** Sends the signal and returns when the child stands still, or when it doesn't any more. */
    void signal(String name, boolean stopped) {
        lock.lock();
        try {
            orders.write(name + "\n");
            orders.flush();
            answers.readLine();
            while (child.isAlive() && process.isStopped() != stopped) {
                TimeUnit.MILLISECONDS.sleep(1);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot send SIG" + name + " to process " + child.pid(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while process " + child.pid() + " reacts to SIG" + name, e);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        lock.lock();
        try (orders) {
            orders.write("done\n");
        } catch (IOException e) {
            // The script has ended.
        } finally {
            lock.unlock();
        }
    }
}
