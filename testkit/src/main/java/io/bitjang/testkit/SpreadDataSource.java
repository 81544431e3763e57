// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Takes its connections from one source after the other. */
record SpreadDataSource(List<DataSource> sources, AtomicInteger next) implements DataSource {

    private DataSource route() {
        return sources.get(Math.floorMod(next.getAndIncrement(), sources.size()));
    }

    @Override
    public Connection getConnection() throws SQLException {
        return route().getConnection();
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        return route().getConnection(user, password);
    }

    @Override
    public @Nullable PrintWriter getLogWriter() {
        return null;
    }

    @Override
    public void setLogWriter(@Nullable PrintWriter out) throws SQLException {
        throw new SQLFeatureNotSupportedException("log writer");
    }

    @Override
    public void setLoginTimeout(int seconds) throws SQLException {
        throw new SQLFeatureNotSupportedException("login timeout");
    }

    /** See {@link DriverDataSource#getLoginTimeout()}. */
    @Override
    public int getLoginTimeout() {
        return 5;
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        throw new SQLFeatureNotSupportedException("parent logger");
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        if (type.isInstance(this)) {
            return type.cast(this);
        }
        throw new SQLException("Not a wrapper for " + type.getName());
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
        return type.isInstance(this);
    }
}
