// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;

/**
 * One clear message for a mistake with {@code @Locked} or {@code @RequiresEditLock} that was found at start-up. The modules that find
 * them know nothing of Boot and throw an {@link IllegalStateException}; that it is theirs is seen by where it was made.
 */
final class LockMistakesAnalyzer implements FailureAnalyzer {

    private static final String OURS = "io.bitjang.spring.";
    private static final int DEEPEST = 50;

    @Override
    public @Nullable FailureAnalysis analyze(Throwable failure) {
        @Nullable Throwable each = failure;
        for (int depth = 0; each != null && depth < DEEPEST; depth++, each = each.getCause()) {
            if (each instanceof LocksStartException) {
                return null; // has an analysis of its own
            }
            if (each instanceof IllegalStateException && isOurs(each) && each.getMessage() != null) {
                return new FailureAnalysis(
                        each.getMessage(),
                        "Change the method, its annotation or the setting that is named above. What @Locked and"
                                + " @RequiresEditLock need is written in docs/spring.md and docs/edit-locks.md.",
                        each);
            }
        }
        return null;
    }

    private static boolean isOurs(Throwable failure) {
        StackTraceElement[] trace = failure.getStackTrace();
        return trace.length > 0 && trace[0].getClassName().startsWith(OURS);
    }
}
