// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import io.bitjang.AlreadyLockedException;
import io.bitjang.LockManager;
import io.bitjang.LockName;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.jspecify.annotations.Nullable;

/**
 * An observation around each attempt to take an offline lock. The lock's name is a high-cardinality value: it comes into traces, not
 * into meters. The lock id comes into neither. Thread-safe.
 */
final class MicrometerObservations implements LockObservations {

    private final ObservationRegistry registry;

    MicrometerObservations(ObservationRegistry registry) {
        this.registry = registry;
    }

    @Override
    public LockManager around(LockManager manager) {
        return (LockManager) Proxy.newProxyInstance(
                LockManager.class.getClassLoader(),
                new Class<?>[] {LockManager.class},
                (proxy, method, arguments) -> method.getName().equals("tryLock")
                        ? observed(manager, method, arguments)
                        : invoke(manager, method, arguments));
    }

    private @Nullable Object observed(LockManager manager, Method method, Object[] arguments) throws Throwable {
        Observation observation = Observation.createNotStarted("bitjang.acquire", registry)
                .contextualName("lock " + arguments[0])
                .highCardinalityKeyValue("bitjang.lock", nameOf(arguments))
                .lowCardinalityKeyValue("bitjang.kind", "offline")
                .start();
        String outcome = "failed";
        try (Observation.Scope scope = observation.openScope()) {
            Object result = invoke(manager, method, arguments);
            outcome = "acquired";
            return result;
        } catch (AlreadyLockedException e) {
            outcome = "refused";
            throw e;
        } catch (Throwable e) {
            observation.error(e);
            throw e;
        } finally {
            observation.lowCardinalityKeyValue("bitjang.outcome", outcome).stop();
        }
    }

    /** Also of a name that will be refused. */
    private static String nameOf(Object[] arguments) {
        return LockName.PLAIN.equals(arguments[0]) ? String.valueOf(arguments[1]) : arguments[0] + "/" + arguments[1];
    }

    private static @Nullable Object invoke(LockManager manager, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(manager, arguments);
        } catch (InvocationTargetException e) {
            throw e.getTargetException();
        }
    }
}
