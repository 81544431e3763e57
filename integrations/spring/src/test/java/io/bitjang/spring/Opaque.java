// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.logging.Logger;
import javax.sql.DataSource;

/** Hides what it wraps: it can't be unwrapped. */
final class Opaque implements DataSource {
    private final DataSource inside;

    Opaque(DataSource inside) {
        this.inside = inside;
    }

    @Override
    public Connection getConnection() throws SQLException {
        return inside.getConnection();
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        return inside.getConnection(user, password);
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        throw new SQLFeatureNotSupportedException("unwrap");
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
        return false;
    }

    @Override
    public PrintWriter getLogWriter() throws SQLException {
        return inside.getLogWriter();
    }

    @Override
    public void setLogWriter(PrintWriter out) throws SQLException {
        inside.setLogWriter(out);
    }

    @Override
    public void setLoginTimeout(int seconds) throws SQLException {
        inside.setLoginTimeout(seconds);
    }

    @Override
    public int getLoginTimeout() throws SQLException {
        return inside.getLoginTimeout();
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        return inside.getParentLogger();
    }
}
