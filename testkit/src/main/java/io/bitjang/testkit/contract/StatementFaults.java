// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import io.bitjang.testkit.CountingDataSource;
import io.bitjang.testkit.TcpProxy;
import io.bitjang.testkit.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** A way to a database on which one statement meets a fault. Thread-safe. */
final class StatementFaults implements AutoCloseable {

    /** What happens to a statement. */
    enum Fault {
        /** The server ends its session just before it is sent. */
        KILLED_BEFORE,
        /** The server ends its session right after it was done, before the connection is used again. */
        KILLED_AFTER,
        /** The server does it, and the reply is lost with the connection. */
        REPLY_LOST
    }

    private final TestDatabase database;
    private final TcpProxy proxy;
    private final CountingDataSource source;
    private final Connection killer;
    private final AtomicBoolean struck = new AtomicBoolean();

    StatementFaults(TestDatabase database) throws SQLException {
        this.database = database;
        this.proxy = TcpProxy.to(database);
        this.source = new CountingDataSource(database.through(proxy.port()).dataSource());
        this.killer = database.dataSource().getConnection();
    }

    CountingDataSource source() {
        return source;
    }

    /** The n-th statement from now on meets the fault; of those whose reply is lost, the n-th about that name. */
    void arm(Fault fault, int n, String name) {
        AtomicInteger statements = new AtomicInteger();
        CountingDataSource.Hook kill = sql -> {
            if (statements.incrementAndGet() == n) {
                struck.set(true);
                database.killSessions(killer);
            }
        };
        switch (fault) {
            case KILLED_BEFORE -> source.onStatement(kill);
            case KILLED_AFTER -> source.afterStatement(kill);
            case REPLY_LOST ->
                proxy.cutAfterRequest(request -> {
                    boolean hit = mentions(request, name) && statements.incrementAndGet() == n;
                    struck.compareAndSet(false, hit);
                    return hit;
                });
        }
    }

    private static boolean mentions(byte[] request, String name) {
        // H2's protocol sends characters of two bytes
        String wide = new String(name.getBytes(StandardCharsets.UTF_16BE), StandardCharsets.ISO_8859_1);
        String text = new String(request, StandardCharsets.ISO_8859_1);
        return text.contains(name) || text.contains(wide);
    }

    /** No fault from now on; one that has happened is remembered until {@link #disarm}. */
    void pause() {
        source.clearHooks();
        proxy.resume();
    }

    boolean hasStruck() {
        return struck.get();
    }

    /** No fault from now on; answers whether one has happened. */
    boolean disarm() {
        pause();
        return struck.getAndSet(false);
    }

    @Override
    public void close() throws SQLException {
        proxy.close();
        killer.close();
    }
}
