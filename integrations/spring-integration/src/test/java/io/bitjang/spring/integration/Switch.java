// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.integration;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLTransientConnectionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A source of connections that can be switched off, as if the server were down. */
final class Switch {

    private final DataSource dataSource;
    private final AtomicInteger refused = new AtomicInteger();
    private volatile boolean off;
    private volatile boolean failing;
    private volatile @Nullable CountDownLatch hanging;

    Switch(DataSource target) {
        this.dataSource = (DataSource) Proxy.newProxyInstance(
                Switch.class.getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> {
                    CountDownLatch latch = hanging;
                    if (latch != null && method.getName().equals("getConnection")) {
                        latch.await();
                    }
                    if (Thread.currentThread().isInterrupted()
                            && method.getName().equals("getConnection")) {
                        // as a pool does that has none at this moment
                        throw new SQLTransientConnectionException("Interrupted while waiting for a connection");
                    }
                    if (off && method.getName().equals("getConnection")) {
                        refused.incrementAndGet();
                        throw new SQLTransientConnectionException("The database is down", "08001");
                    }
                    Object answer = invoke(target, method, arguments);
                    return failing && answer instanceof Connection connection ? failing(connection) : answer;
                });
    }

    /** A connection that is there, and fails when it is used. */
    private Connection failing(Connection target) {
        return (Connection) Proxy.newProxyInstance(
                Switch.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    if (failing && method.getName().equals("prepareStatement")) {
                        refused.incrementAndGet();
                        throw new SQLTransientConnectionException("The server is going down", "08006");
                    }
                    return invoke(target, method, arguments);
                });
    }

    private static Object invoke(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    DataSource dataSource() {
        return dataSource;
    }

    void fails() {
        off = true;
    }

    /** Connections can be had, but each statement fails. */
    void statementsFail() {
        failing = true;
    }

    /** No answer at all. */
    void hangs() {
        hanging = new CountDownLatch(1);
    }

    void works() {
        off = false;
        failing = false;
        CountDownLatch latch = hanging;
        hanging = null;
        if (latch != null) {
            latch.countDown();
        }
    }

    int refused() {
        return refused.get();
    }
}
