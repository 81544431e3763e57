// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import io.bitjang.AlreadyLockedException;
import io.bitjang.LockName;
import io.bitjang.spring.LockObserver;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.function.Supplier;

/**
 * An observation around each attempt to take a lock. The lock's name is a high-cardinality value: it comes into traces, not
 * into meters. The lock id comes into neither. Thread-safe.
 */
final class MicrometerObservations implements LockObserver {

    private final ObservationRegistry registry;

    MicrometerObservations(ObservationRegistry registry) {
        this.registry = registry;
    }

    @Override
    public <T> T around(String operation, LockName name, Supplier<T> attempt) {
        Observation observation = Observation.createNotStarted("bitjang.acquire", registry)
                .contextualName("bitjang " + operation)
                .lowCardinalityKeyValue("bitjang.operation", operation)
                .highCardinalityKeyValue("bitjang.lock", name.type() + "/" + name.id())
                .start();
        String outcome = "failed";
        try (Observation.Scope scope = observation.openScope()) {
            T result = attempt.get();
            outcome = "acquired";
            return result;
        } catch (AlreadyLockedException e) {
            // an answer, not an error
            outcome = "refused";
            throw e;
        } catch (RuntimeException e) {
            observation.error(e);
            throw e;
        } finally {
            observation.lowCardinalityKeyValue("bitjang.outcome", outcome).stop();
        }
    }
}
