// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Compares versions as {@code If-Match} does. */
final class Etags {

    private static final Pattern LISTED = Pattern.compile("\\s*(W/)?(\"[^\"]*\"|[^\",\\s]+)\\s*(,|$)");

    private Etags() {}

    /** Whether one of those sent is the current one; a weak one never is, {@code *} always. */
    static boolean match(String sent, String current) {
        if (sent.strip().equals("*")) {
            return true;
        }
        Matcher each = LISTED.matcher(sent);
        while (each.find()) {
            if (each.group(1) == null && bare(each.group(2)).equals(bare(current))) {
                return true;
            }
        }
        return false;
    }

    private static String bare(String etag) {
        return etag.length() >= 2 && etag.startsWith("\"") && etag.endsWith("\"")
                ? etag.substring(1, etag.length() - 1)
                : etag;
    }
}
