// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.LockName;
import io.bitjang.internal.dialect.Dialect;
import io.bitjang.internal.dialect.Dialects;
import io.bitjang.internal.time.Ticker;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A table of one lock. It answers the statements of the engine as far as a race between threads needs them. */
public final class OneRow implements Runner {

    /** The lock. */
    public static final LockName JOB = LockName.of("job");

    // made once: to make the texts anew for each order would take longer than to try it
    private static final Dialect DIALECT = Dialects.of("H2", "2.4.240", false);
    private static final LockSql SQL = new LockSql(DIALECT, new Tables(null, "bitjang_"));
    private static final Database NOT_THERE = new Database(
            (DataSource) Proxy.newProxyInstance(
                    OneRow.class.getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> {
                        throw new UnsupportedOperationException(method.getName());
                    }),
            DIALECT,
            Ticker.SYSTEM);

    /** No lease ends by itself here. */
    private static final long NEVER = Long.MAX_VALUE / 2;

    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable String secret;
    private long fence;
    private int reserved;
    private int secrets;

    /** Makes what plans for this table. */
    public LockStore store(Ticker ticker) {
        return new LockStore(DIALECT, SQL, ticker, this::newSecret);
    }

    /** Makes a guard that can't be carried out. */
    public GuardSql guard(LockStore store) {
        return store.guard(NOT_THERE);
    }

    /** Takes the lock; returns the random part of its id. */
    public String take() {
        secret = newSecret();
        fence++;
        return secret;
    }

    /** Tells whether somebody has the lock. */
    public boolean isHeld() {
        return secret != null;
    }

    /** Tells whether the table says that this fence has the lock, and no other fence may have it. */
    public boolean knows(long holder) {
        return secret != null && fence == holder && reserved == 0;
    }

    private String newSecret() {
        lock.lock();
        try {
            return "secret" + ++secrets;
        } finally {
            lock.unlock();
        }
    }

    @Override
    @SuppressWarnings("unchecked") // each statement is answered with what its reading would make of the rows
    public <A> A ask(Ask<A> ask) {
        lock.lock();
        try {
            return (A) answer(ask.sql(), ask.params());
        } finally {
            lock.unlock();
        }
    }

    private Object answer(Sql sql, Params params) {
        if (sql == SQL.take) {
            return secret != null ? OptionalLong.empty() : granted(params);
        } else if (sql == SQL.upsert.orElseThrow()) {
            boolean free = secret == null;
            if (free) {
                granted(params);
            }
            return List.of(new LockStore.Upserted(row(), free));
        } else if (sql == SQL.handOver) {
            return isOf(params.values.get("from")) ? granted(params) : OptionalLong.empty();
        } else if (sql == SQL.release) {
            return isOf(params.values.get("lockId")) ? freed() : OptionalLong.empty();
        } else if (sql == SQL.releaseListed) {
            boolean ours = Stream.of((Object[]) value(params, "lockIds")).anyMatch(this::isOf);
            return ours ? (int) Math.min(1, freed().getAsLong()) : 0;
        } else if (sql == SQL.settle) {
            return isOf(params.values.get("lockId")) ? settled(params) : OptionalLong.empty();
        } else if (sql == SQL.read || sql == SQL.readListed) {
            return List.of(row());
        } else if (sql == SQL.markWanted) {
            return OptionalLong.of(8);
        }
        throw new IllegalStateException("not known here: " + sql.text());
    }

    private boolean isOf(@Nullable Object asked) {
        return secret != null && secret.equals(asked);
    }

    private OptionalLong granted(Params params) {
        fence += reserved + 1;
        reserved = (int) value(params, "reserve");
        secret = (String) value(params, "lockId");
        return OptionalLong.of(fence * 8);
    }

    private OptionalLong settled(Params params) {
        fence = (long) value(params, "fence");
        reserved = 0;
        return OptionalLong.of(fence * 8);
    }

    private OptionalLong freed() {
        secret = null;
        return OptionalLong.of(fence * 8);
    }

    private static Object value(Params params, String name) {
        Object value = params.values.get(name);
        if (value == null) {
            throw new IllegalStateException("no value for " + name);
        }
        return value;
    }

    private LockRow row() {
        return new LockRow(JOB, secret, "node", fence, reserved, 0, NEVER, null, true, null, null, 0);
    }

    @Override
    public boolean pause(long millis) {
        return true;
    }

    @Override
    public <T extends @Nullable Object> T visit(boolean together, Plan<T> plan) {
        return plan.run(this);
    }
}
