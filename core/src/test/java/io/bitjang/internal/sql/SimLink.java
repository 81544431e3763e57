// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.internal.sql.SimSessions.Session;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A connection to the simulated session locks, with as much of JDBC as {@link SessionLink} needs. Not thread-safe. */
public final class SimLink {

    private SimLink() {}

    /** The way between a client and its session. */
    public interface Way {
        /** Asks the session, and waits for the answer; null for a null. */
        @Nullable
        Long ask(Question question) throws SQLException;

        /** The number of the session. */
        long session();

        /** Asks the server to end what the session waits for. */
        void cancel();

        /** Tells whether nothing can be asked any more. */
        boolean isBroken();

        /** Closes the connection. */
        void cut();
    }

    /** What is asked of a session. */
    public record Question(String text, long key, long millis) {

        /** Puts it to the session; the answer may come later. */
        public void put(Session session, Consumer<@Nullable Boolean> answer) {
            switch (text.split(" ")[0]) {
                case "await" -> session.await(key, answer);
                case "release" -> answer.accept(session.release(key));
                case "releaseAll" -> {
                    session.releaseAll();
                    answer.accept(true);
                }
                case "holds" -> answer.accept(session.has(key));
                case "session" -> answer.accept(true);
                default -> throw new IllegalStateException("not simulated: " + text);
            }
        }

        /** How long the server waits at most; empty where it does not. */
        public Optional<Duration> patience() {
            return millis > 0 ? Optional.of(Duration.ofMillis(millis)) : Optional.empty();
        }
    }

    /** The connection has gone. */
    public static SQLException broken() {
        return new SQLException("broken", "08006");
    }

    /** As PostgreSQL says that the time for a wait is over; the others answer no. */
    public static SQLException timedOut() {
        return new SQLException("canceling statement due to lock timeout", "55P03");
    }

    /** As PostgreSQL says that it was told to end a statement; the others may answer with a null. */
    public static SQLException cancelled() {
        return new SQLException("canceling statement due to user request", "57014");
    }

    /** A connection that leads this way. */
    public static Connection of(Way way) {
        return proxy(Connection.class, (method, values) -> switch (method) {
            case "getAutoCommit" -> true;
            case "isClosed" -> way.isBroken();
            case "prepareStatement" -> statement(way, (String) values[0]);
            case "abort", "close" -> {
                way.cut();
                yield null;
            }
            case "createStatement" -> throw broken();
            default -> throw new UnsupportedOperationException(method);
        });
    }

    private static PreparedStatement statement(Way way, String text) {
        long[] bound = new long[2];
        return proxy(PreparedStatement.class, (method, values) -> switch (method) {
            case "setLong" -> {
                bound[(int) values[0] - 1] = (long) values[1];
                yield null;
            }
            case "execute" -> way.ask(new Question(text, 0, 0)) != null;
            case "executeQuery" -> row(way, way.ask(new Question(text, bound[0], bound[1])));
            case "cancel" -> {
                way.cancel();
                yield null;
            }
            case "close" -> null;
            default -> throw new UnsupportedOperationException(method);
        });
    }

    private static ResultSet row(Way way, @Nullable Long answer) {
        return proxy(ResultSet.class, (method, values) -> switch (method) {
            case "next" -> true;
            case "getLong" -> (int) values[0] == 2 ? way.session() : answer == null ? 0L : answer;
            case "wasNull" -> answer == null;
            case "close" -> null;
            default -> throw new UnsupportedOperationException(method);
        });
    }

    private interface Calls {
        @Nullable
        Object called(String method, Object[] values) throws SQLException;
    }

    private static <T> T proxy(Class<T> type, Calls calls) {
        return type.cast(Proxy.newProxyInstance(
                SimLink.class.getClassLoader(),
                new Class<?>[] {type},
                (Object self, Method method, Object @Nullable [] values) -> switch (method.getName()) {
                    case "hashCode" -> System.identityHashCode(self);
                    default -> calls.called(method.getName(), values == null ? new Object[0] : values);
                }));
    }
}
