// SPDX-License-Identifier: Apache-2.0
package io.bitjang.reporting;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.ReentrantLock;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** The last lines that Bitjang logged in this JVM, the events of its locks among them. */
final class LockLog extends Handler {

    private static final int KEPT = 300;

    /** Loggers that nobody refers to are forgotten, with their level. */
    private static final Logger LOGGER = Logger.getLogger("io.bitjang");

    private static final LockLog INSTANCE = new LockLog();

    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<String> lines = new ArrayDeque<>();
    private final SimpleFormatter formatter = new SimpleFormatter();

    /** Hears everything from now on; what else is logged, and where, stays as it was. */
    private LockLog() {
        setLevel(Level.ALL);
        LOGGER.setLevel(Level.FINE);
        LOGGER.addHandler(this);
    }

    static LockLog ofThisJvm() {
        return INSTANCE;
    }

    @Override
    public void publish(LogRecord entry) {
        String line = Instant.ofEpochMilli(entry.getMillis()) + " " + entry.getLevel() + " "
                + formatter.formatMessage(entry)
                + (entry.getThrown() == null ? "" : ": " + entry.getThrown());
        lock.lock();
        try {
            lines.addLast(line);
            if (lines.size() > KEPT) {
                lines.removeFirst();
            }
        } finally {
            lock.unlock();
        }
    }

    /** A test begins: what others did explains nothing. */
    void forget() {
        lock.lock();
        try {
            lines.clear();
        } finally {
            lock.unlock();
        }
    }

    String tail() {
        lock.lock();
        try {
            return lines.isEmpty() ? "(none)\n" : String.join("\n", lines) + "\n";
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
}
