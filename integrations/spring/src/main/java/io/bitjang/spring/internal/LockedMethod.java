// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.internal;

import io.bitjang.LockName;
import io.bitjang.Wait;
import io.bitjang.spring.Locked;
import io.bitjang.spring.Locked.Kind;
import io.bitjang.spring.Locked.OnContention;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.BeanResolver;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/** What {@link Locked} on a method means, all of it checked. Immutable. */
final class LockedMethod {

    private final String where;
    private final LockKey key;
    private final String type;
    private final LockRequest settings;
    private final ReturnStyle style;
    private final boolean skips;
    private final @Nullable Object skipped;

    /**
     * Checks it.
     *
     * @param method the one that runs
     * @param carrier the one that has the annotation, by whose parameters names are resolved
     */
    LockedMethod(
            Locked locked,
            Method method,
            Method carrier,
            UnaryOperator<String> placeholders,
            @Nullable BeanResolver beans) {
        String value = placeholders.apply(locked.value());
        this.where = "@Locked(\"" + value + "\") on " + describe(carrier);
        requireInterceptable(method);
        this.key = new LockKey(value, carrier, where, beans);
        this.type = placeholders.apply(locked.type());
        this.style = ReturnStyle.of(method, where);
        this.skips = locked.onContention() == OnContention.SKIP;
        this.skipped = skips ? ReturnStyle.skipped(method, where) : null;
        LockRequest request = LockRequest.of(checkedType(), locked.kind(), wait(placeholders.apply(locked.waitFor())));
        @Nullable Duration lease = duration("lease", placeholders.apply(locked.lease()), locked.kind());
        @Nullable Duration maxHold = duration("maxHold", placeholders.apply(locked.maxHold()), locked.kind());
        @Nullable
        Duration notFree = duration("notFreeBefore", placeholders.apply(locked.notFreeBefore()), locked.kind());
        request = lease == null ? request : request.lasting(lease);
        request = maxHold == null ? request : request.maxHold(maxHold);
        this.settings = notFree == null ? request : request.notFreeBefore(notFree);
    }

    private LockName checkedType() {
        try {
            return LockName.of(type, "checked");
        } catch (IllegalArgumentException e) {
            throw new IllegalStateException(where + ": " + e.getMessage(), e);
        }
    }

    private void requireInterceptable(Method method) {
        int modifiers = method.getModifiers();
        String kind = Modifier.isStatic(modifiers)
                ? "static"
                : Modifier.isPrivate(modifiers) ? "private" : Modifier.isFinal(modifiers) ? "final" : "";
        if (!kind.isEmpty()) {
            throw new IllegalStateException(
                    where + " is on a " + kind + " method, which a proxy can't intercept: it would run"
                            + " without the lock. Make it an overridable method, or use a LockTemplate.");
        }
    }

    private Wait wait(String text) {
        if (text.equals("forever")) {
            return Wait.forever();
        }
        return text.isBlank() ? Wait.none() : Wait.upTo(parse("waitFor", text));
    }

    private @Nullable Duration duration(String attribute, String text, Kind kind) {
        if (text.isBlank()) {
            return null;
        }
        if (kind == Kind.SESSION) {
            throw new IllegalStateException(
                    where + " has " + attribute + ", which a session lock does not have. Use the kind LEASE.");
        }
        Duration parsed = parse(attribute, text);
        if (parsed.isZero()) {
            throw new IllegalStateException(where + ": " + attribute + " is zero.");
        }
        return parsed;
    }

    private Duration parse(String attribute, String text) {
        String hint = " is no duration: '" + text + "'. Write for example 500ms, 2s, 5m or PT2S.";
        if (text.chars().allMatch(c -> c == '-' || c == '+' || Character.isDigit(c))) {
            throw new IllegalStateException(where + ": " + attribute + hint);
        }
        try {
            Duration parsed = DurationFormatterUtils.detectAndParse(text.trim());
            if (parsed.isNegative()) {
                throw new IllegalStateException(where + ": " + attribute + " is negative: '" + text + "'.");
            }
            return parsed;
        } catch (IllegalArgumentException e) {
            throw new IllegalStateException(where + ": " + attribute + hint, e);
        }
    }

    LockRequest request(@Nullable Object[] arguments) {
        String id = key.evaluate(arguments);
        try {
            return settings.named(LockName.of(type, id), settings.patience());
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(where + ": " + e.getMessage(), e);
        }
    }

    ReturnStyle style() {
        return style;
    }

    Kind kind() {
        return settings.kind();
    }

    boolean skips() {
        return skips;
    }

    @Nullable
    Object skipped() {
        return skipped;
    }

    /** Whether who holds the one holds the other, as far as can be told without a call. */
    boolean sameLockAs(LockedMethod other) {
        return key.toString().equals(other.key.toString())
                && type.equals(other.type)
                && settings.kind() == other.settings.kind();
    }

    static String describe(Method method) {
        return method.getDeclaringClass().getName() + "." + method.getName();
    }

    /** Annotation and place, for messages. */
    @Override
    public String toString() {
        return where;
    }
}
