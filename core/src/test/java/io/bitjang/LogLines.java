// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** What the library warns of, until it is closed; nothing of it is printed. */
final class LogLines extends Handler implements AutoCloseable {

    private final Logger log = Logger.getLogger("io.bitjang");
    private final Level before = log.getLevel();
    private final List<String> lines = new CopyOnWriteArrayList<>();

    LogLines() {
        log.setUseParentHandlers(false);
        log.setLevel(Level.WARNING);
        log.addHandler(this);
    }

    List<String> lines() {
        return List.copyOf(lines);
    }

    @Override
    public void publish(LogRecord line) {
        lines.add(line.getMessage());
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
