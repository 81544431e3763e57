// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** What is logged, until it is closed; nothing of it is printed. */
public final class LogLines extends Handler implements AutoCloseable {

    private final Logger log;
    private final Level before;
    private final List<LogRecord> records = new CopyOnWriteArrayList<>();

    private LogLines(String logger, Level level) {
        log = Logger.getLogger(logger);
        before = log.getLevel();
        log.setUseParentHandlers(false);
        log.setLevel(level);
        log.addHandler(this);
    }

    /** What the library warns of. */
    public static LogLines warnings() {
        return new LogLines("io.bitjang", Level.WARNING);
    }

    /** The events, which are logged at this level. */
    public static LogLines events() {
        return new LogLines("io.bitjang.events", Level.FINE);
    }

    /** All that was logged, in order. */
    public List<LogRecord> records() {
        return List.copyOf(records);
    }

    /** The messages of all that was logged, in order. */
    public List<String> lines() {
        return records.stream().map(LogRecord::getMessage).toList();
    }

    @Override
    public void publish(LogRecord line) {
        records.add(line);
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
        log.removeHandler(this);
        log.setLevel(before);
        log.setUseParentHandlers(true);
    }
}
