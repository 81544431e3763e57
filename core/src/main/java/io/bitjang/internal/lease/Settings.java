// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import java.time.Duration;

/**
 * How an instance was configured.
 *
 * @param owner in whose name locks are taken unless said otherwise
 * @param lease how long a lease lasts between renewals
 * @param offline how long an offline lock lasts
 * @param audit whether take-overs and forced releases are written down
 * @param notifications whether the database's notifications are used
 */
public record Settings(String owner, Duration lease, Duration offline, boolean audit, boolean notifications) {}
