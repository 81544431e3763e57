// SPDX-License-Identifier: Apache-2.0

/**
 * The edit lock over HTTP: endpoints for a screen that a person edits, and a guard for the application's own handlers. Import
 * {@link io.bitjang.spring.web.EditLockConfiguration}; the rest is found from there.
 */
@NullMarked
package io.bitjang.spring.web;

import org.jspecify.annotations.NullMarked;
