// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.SQLException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import javax.sql.DataSource;

/** Where a database hangs: whoever comes to it stops until it is opened. Closing opens it. */
final class Gate implements AutoCloseable {

    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch open = new CountDownLatch(1);

    /** Stops here while the gate is shut. */
    void pass() throws SQLException {
        reached.countDown();
        try {
            if (!open.await(Crew.PATIENCE.toSeconds() * 2, TimeUnit.SECONDS)) {
                throw new SQLException("The gate was never opened");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SQLException("Interrupted at the gate", e);
        }
    }

    /** A source that hands out connections only through the gate while that is shut, as a pool that is exhausted. */
    DataSource before(DataSource target, BooleanSupplier shut) {
        return (DataSource) Proxy.newProxyInstance(
                Gate.class.getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("getConnection") && shut.getAsBoolean()) {
                        pass();
                    }
                    try {
                        return method.invoke(target, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause() == null ? e : e.getCause();
                    }
                });
    }

    /** Returns when someone has come to the gate. */
    void untilReached() throws InterruptedException {
        assertThat(reached.await(Crew.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                .as("someone comes to the gate")
                .isTrue();
    }

    void open() {
        open.countDown();
    }

    @Override
    public void close() {
        open();
    }
}
