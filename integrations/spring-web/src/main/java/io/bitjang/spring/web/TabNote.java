// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import io.bitjang.LockData;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The note of an edit lock, with the client id of its browser tab at the end. The id is a label that tells the tabs of one person
 * apart; it gives no right, and others don't get to see it.
 */
record TabNote(@Nullable String text, @Nullable String clientId) {

    /** What is left of the 1,000 characters that a note may have. */
    private static final int MAX_TEXT = 900;

    private static final Pattern CLIENT_ID = Pattern.compile("[A-Za-z0-9_-]{8,64}");
    private static final Pattern STORED = Pattern.compile("(?s)(?:(.*) )?\\(tab ([A-Za-z0-9_-]{8,64})\\)");

    /** For a request: checks both parts. */
    static TabNote of(@Nullable String text, @Nullable String clientId) {
        String kept = text == null || text.isBlank() ? null : text.strip();
        if (kept != null && kept.codePointCount(0, kept.length()) > MAX_TEXT) {
            throw EditLockProblem.bad("The note is longer than " + MAX_TEXT + " characters.");
        }
        if (kept != null && !Requests.isStorable(kept)) {
            throw EditLockProblem.bad("The note has a character that can't be stored.");
        }
        if (clientId != null && !CLIENT_ID.matcher(clientId).matches()) {
            throw EditLockProblem.bad("clientId must have 8 to 64 characters: letters, digits, '-' and '_'.");
        }
        return new TabNote(kept, clientId);
    }

    /** As it stands in the table. */
    static TabNote stored(@Nullable String note) {
        Matcher matcher = STORED.matcher(note == null ? "" : note);
        return matcher.matches() ? new TabNote(matcher.group(1), matcher.group(2)) : new TabNote(note, null);
    }

    /** For the table. */
    @Nullable
    String store() {
        if (clientId == null) {
            return text;
        }
        return (text == null ? "" : text + " ") + "(tab " + clientId + ")";
    }

    /** What others may see. */
    static LockData hidden(LockData data) {
        return new LockData(
                data.name(),
                data.held(),
                data.owner(),
                data.fence(),
                data.acquiredAt(),
                data.expiresAt(),
                data.remaining(),
                stored(data.note()).text(),
                data.wanted());
    }
}
