// SPDX-License-Identifier: Apache-2.0

/** What both engines need: threads, alarms, those who wait and those who listen. */
@NullMarked
package io.bitjang.internal.work;

import org.jspecify.annotations.NullMarked;
