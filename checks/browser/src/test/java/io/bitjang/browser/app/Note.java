// SPDX-License-Identifier: Apache-2.0
package io.bitjang.browser.app;

/** What is edited. */
public record Note(String id, String title, String text, String colour, long version) {}
