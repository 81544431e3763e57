// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shedlock;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.SQLTransientConnectionException;
import javax.sql.DataSource;

/** A source of connections that can be switched off, as if the server were down. */
final class Switch {

    private final DataSource dataSource;
    private volatile boolean off;

    Switch(DataSource target) {
        this.dataSource = (DataSource) Proxy.newProxyInstance(
                Switch.class.getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> {
                    if (off && method.getName().equals("getConnection")) {
                        throw new SQLTransientConnectionException("The database is down", "08001");
                    }
                    try {
                        return method.invoke(target, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    DataSource dataSource() {
        return dataSource;
    }

    void fails() {
        off = true;
    }

    void works() {
        off = false;
    }
}
