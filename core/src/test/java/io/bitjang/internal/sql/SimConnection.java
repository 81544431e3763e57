// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.Iterator;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A caller's connection to the simulated table, with as much of JDBC as a guard needs. Not thread-safe. */
public final class SimConnection {

    private static final String SEEN = "seen";

    private SimConnection() {}

    /** A connection that has this transaction open. */
    public static Connection of(SimTable table, SimTable.Transaction transaction) {
        return proxy(Connection.class, (method, values) -> switch (method) {
            case "getAutoCommit" -> false;
            case "rollback" -> {
                transaction.rollback();
                yield null;
            }
            case "prepareStatement" -> statement(table, transaction, (String) values[0]);
            default -> throw new UnsupportedOperationException(method);
        });
    }

    private static PreparedStatement statement(SimTable table, SimTable.Transaction transaction, String text) {
        Sql sql = table.statement(text);
        Params params = Params.none();
        return proxy(PreparedStatement.class, (method, values) -> switch (method) {
            case "setString", "setLong" -> {
                params.set(sql.parameters().get((int) values[0] - 1), values[1]);
                yield null;
            }
            case "execute" -> true;
            case "getResultSet" ->
                rows(table.run(transaction, Ask.rows(sql, params, LockRow::read))
                        .iterator());
            case "getWarnings", "close" -> null;
            default -> throw new UnsupportedOperationException(method);
        });
    }

    private static ResultSet rows(Iterator<LockRow> rows) {
        @Nullable LockRow[] current = new LockRow[1];
        return proxy(ResultSet.class, (method, values) -> switch (method) {
            case "next" -> {
                boolean another = rows.hasNext();
                current[0] = another ? rows.next() : null;
                yield another;
            }
            case "getString" -> cell(Objects.requireNonNull(current[0]), values[0]);
            case "getLong" -> ((Number) number(current[0], values[0])).longValue();
            case "getInt" -> ((Number) number(current[0], values[0])).intValue();
            case "close" -> null;
            default -> throw new UnsupportedOperationException(method);
        });
    }

    private static Object number(@Nullable LockRow row, Object column) {
        return Objects.requireNonNull(cell(Objects.requireNonNull(row), column));
    }

    /** As {@link LockRow#read} expects it. The transactions are at READ COMMITTED: their snapshots show what is there. */
    private static @Nullable Object cell(LockRow row, Object column) {
        return SEEN.equals(column)
                ? row.lockId()
                : switch ((int) column) {
                    case 1 -> row.name().type();
                    case 2 -> row.name().id();
                    case 3 -> row.lockId();
                    case 4 -> row.owner();
                    case 5 -> row.fence();
                    case 6 -> row.reserved();
                    case 7 -> row.acquiredAt();
                    case 8 -> row.expiresAt();
                    case 9 -> row.note();
                    case 10 -> row.wanted() ? 1 : 0;
                    case 11 -> row.takenFrom();
                    case 12 -> row.forced();
                    default -> row.now();
                };
    }

    private interface Calls {
        @Nullable
        Object called(String method, Object[] values);
    }

    private static <T> T proxy(Class<T> type, Calls calls) {
        InvocationHandler handler =
                (Object self, Method method, Object @Nullable [] values) -> switch (method.getName()) {
                    case "hashCode" -> System.identityHashCode(self);
                    case "equals" -> self == Objects.requireNonNull(values)[0];
                    default -> calls.called(method.getName(), values == null ? new Object[0] : values);
                };
        return type.cast(Proxy.newProxyInstance(SimConnection.class.getClassLoader(), new Class<?>[] {type}, handler));
    }
}
