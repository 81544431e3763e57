// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** One clear message instead of a stack trace. */
final class LocksFailureAnalyzer extends AbstractFailureAnalyzer<LocksStartException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, LocksStartException cause) {
        return new FailureAnalysis(String.valueOf(cause.getMessage()), cause.action(), cause);
    }
}
