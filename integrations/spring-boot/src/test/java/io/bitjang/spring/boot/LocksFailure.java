// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import org.springframework.boot.diagnostics.FailureAnalysis;

/** What a person reads when an application does not start. */
record LocksFailure(String description, String action) {

    static LocksFailure of(Throwable failure) {
        FailureAnalysis analysis = new LocksFailureAnalyzer().analyze(failure);
        assertThat(analysis).as("the failure has an analysis: " + failure).isNotNull();
        return new LocksFailure(analysis.getDescription(), analysis.getAction());
    }
}
