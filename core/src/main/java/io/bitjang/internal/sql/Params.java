// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.LockName;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The values for a statement's named parameters. Not thread-safe. */
public final class Params {

    final Map<String, @Nullable Object> values = new HashMap<>();

    /** Makes parameters without values. */
    public static Params none() {
        return new Params();
    }

    /** Makes parameters with the values {@code type} and {@code id} of a name. */
    public static Params of(LockName name) {
        return new Params().set("type", name.type()).set("id", name.id());
    }

    /** Sets a value: text, a number, a boolean, an array of texts or of longs, or null. */
    public Params set(String name, @Nullable Object value) {
        values.put(name, value);
        return this;
    }

    PreparedStatement bind(Connection connection, PreparedStatement statement, List<String> names) throws SQLException {
        for (int i = 0; i < names.size(); i++) {
            String name = names.get(i);
            if (!values.containsKey(name)) {
                throw new IllegalStateException("No value for the parameter :" + name);
            }
            bindOne(connection, statement, i + 1, values.get(name));
        }
        return statement;
    }

    private static void bindOne(Connection connection, PreparedStatement statement, int index, @Nullable Object value)
            throws SQLException {
        if (value == null) {
            statement.setNull(index, Types.VARCHAR);
        } else if (value instanceof String text) {
            statement.setString(index, text);
        } else if (value instanceof Number number) {
            statement.setLong(index, number.longValue());
        } else if (value instanceof String[] texts) {
            statement.setArray(index, connection.createArrayOf("varchar", texts));
        } else if (value instanceof Long[] longs) {
            statement.setArray(index, connection.createArrayOf("bigint", longs));
        } else {
            throw new IllegalStateException("Can't bind a " + value.getClass());
        }
    }
}
