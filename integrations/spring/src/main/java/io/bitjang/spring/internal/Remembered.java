// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.internal;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Answers about objects, each for as long as its object lives: an application may open and close a pool for every tenant. By identity,
 * because a data source may be equal to another one. Thread-safe.
 */
final class Remembered {

    private final Map<Key, Boolean> answers = new ConcurrentHashMap<>();
    private final ReferenceQueue<Object> gone = new ReferenceQueue<>();

    @Nullable
    Boolean about(Object subject) {
        return answers.get(new Key(subject, null));
    }

    boolean put(Object subject, boolean answer) {
        for (Object key = gone.poll(); key != null; key = gone.poll()) {
            answers.remove(key);
        }
        answers.put(new Key(subject, gone), answer);
        return answer;
    }

    private static final class Key extends WeakReference<Object> {

        private final int hash;

        Key(Object subject, @Nullable ReferenceQueue<Object> gone) {
            super(subject, gone);
            this.hash = System.identityHashCode(subject);
        }

        @Override
        public int hashCode() {
            return hash;
        }

        /** One whose object is gone equals only itself, which is how it is removed. */
        @Override
        public boolean equals(@Nullable Object other) {
            if (this == other) {
                return true;
            }
            @Nullable Object subject = get();
            return subject != null && other instanceof Key key && key.refersTo(subject);
        }
    }
}
