// SPDX-License-Identifier: Apache-2.0
/**
 * What a build tells of its tests. {@link io.bitjang.reporting.Journal} notes every test in a file,
 * {@link io.bitjang.reporting.Failures} keeps what explains a red one, and {@link io.bitjang.reporting.build.Build}, which {@code mvnw}
 * starts, reads the files and tells a person.
 */
@NullMarked
package io.bitjang.reporting;

import org.jspecify.annotations.NullMarked;
