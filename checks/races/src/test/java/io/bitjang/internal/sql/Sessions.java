// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.LockName;
import io.bitjang.internal.dialect.Dialects;
import io.bitjang.races.StillTicker;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;

/** Sessions that are there or dead, and are asked nothing. */
public final class Sessions {

    /** A lock. */
    public static final LockName JOB = LockName.of("job");

    private static final SessionStatements SQL =
            new SessionStatements(Dialects.of("PostgreSQL", "18", false).sessions("bitjang_sessions"));
    private static final Connection CONNECTION = (Connection) Proxy.newProxyInstance(
            Sessions.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                if (method.getName().equals("getAutoCommit")) {
                    return true;
                }
                throw new UnsupportedOperationException(method.getName());
            });

    private Sessions() {}

    /** Makes a session that lives. */
    public static SessionLink link() {
        try {
            return new SessionLink(new StillTicker(), CONNECTION, SQL);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
