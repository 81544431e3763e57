// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import io.bitjang.LockData;
import io.bitjang.LockName;
import java.net.URI;
import java.security.Principal;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.ErrorResponseException;

/**
 * What can go wrong with an edit lock, as a problem of RFC 9457. An application that wants to answer otherwise handles {@link
 * ErrorResponseException} and looks at the problem's type.
 */
final class EditLockProblem extends ErrorResponseException {

    private static final long serialVersionUID = 1L;
    private static final Duration SOON = Duration.ofSeconds(1);
    private static final Duration LATER = Duration.ofSeconds(5);

    private EditLockProblem(HttpStatus status, String type, String title, String detail, @Nullable Throwable cause) {
        super(status, body(status, type, title, detail), cause);
    }

    private static ProblemDetail body(HttpStatus status, String type, String title, String detail) {
        ProblemDetail body = ProblemDetail.forStatusAndDetail(status, detail);
        body.setType(URI.create("urn:bitjang:" + type));
        body.setTitle(title);
        return body;
    }

    private EditLockProblem retryAfter(Duration wait) {
        getHeaders()
                .set(
                        HttpHeaders.RETRY_AFTER,
                        String.valueOf(Math.max(1, wait.plusMillis(999).toSeconds())));
        return this;
    }

    static EditLockProblem signIn() {
        return new EditLockProblem(HttpStatus.UNAUTHORIZED, "sign-in", "Not signed in", "Sign in first.", null);
    }

    static EditLockProblem denied(String detail) {
        return new EditLockProblem(HttpStatus.FORBIDDEN, "denied", "Not allowed", detail, null);
    }

    static EditLockProblem crossSite() {
        return new EditLockProblem(
                HttpStatus.FORBIDDEN,
                "cross-site",
                "Request from another site",
                "This request was sent by a page of another site.",
                null);
    }

    static EditLockProblem bad(String detail) {
        return new EditLockProblem(HttpStatus.BAD_REQUEST, "bad-request", "Bad request", detail, null);
    }

    static EditLockProblem notJson() {
        return new EditLockProblem(
                HttpStatus.UNSUPPORTED_MEDIA_TYPE,
                "not-json",
                "Not JSON",
                "The body of this request must be application/json.",
                null);
    }

    static EditLockProblem tooLarge(int bytes) {
        return new EditLockProblem(
                HttpStatus.CONTENT_TOO_LARGE,
                "too-large",
                "Too large",
                "The body of this request must say its length, and have at most " + bytes + " bytes.",
                null);
    }

    static EditLockProblem method(String allowed) {
        EditLockProblem problem = new EditLockProblem(
                HttpStatus.METHOD_NOT_ALLOWED, "method", "Method not allowed", "There are " + allowed + " here.", null);
        problem.getHeaders().set(HttpHeaders.ALLOW, allowed);
        return problem;
    }

    static EditLockProblem notFound(LockName name) {
        return new EditLockProblem(
                HttpStatus.NOT_FOUND, "not-found", "Not found", "There is no " + text(name) + ".", null);
    }

    static EditLockProblem noVersions() {
        return new EditLockProblem(
                HttpStatus.NOT_IMPLEMENTED,
                "no-versions",
                "Versions are not known",
                "If-Match can't be checked: the application has no EditLockVersions.",
                null);
    }

    static EditLockProblem required(String what) {
        return new EditLockProblem(
                HttpStatus.PRECONDITION_REQUIRED,
                "lock-required",
                "A lock is required",
                "The request carries no " + what + ". Open the editor again.",
                null);
    }

    /** The holder is shown to people who are signed in, and to nobody else. */
    static EditLockProblem held(
            LockName name, @Nullable LockData holder, @Nullable Principal person, boolean mayTakeOver) {
        LockData shown = holder == null || !holder.held() || person == null ? null : TabNote.hidden(holder);
        boolean mine = shown != null && person != null && person.getName().equals(shown.owner());
        String detail = shown == null
                ? "This is in use right now. Try again later."
                : mine
                        ? "You are editing " + text(name) + " in another window or tab."
                        : shown.owner() + " has been editing " + text(name) + " for " + howLong(shown) + ".";
        EditLockProblem problem =
                new EditLockProblem(HttpStatus.LOCKED, "held", "Someone is editing this", detail, null);
        ProblemDetail body = problem.getBody();
        body.setProperty("owner", shown == null ? null : shown.owner());
        body.setProperty("since", shown == null ? null : Objects.toString(shown.acquiredAt(), null));
        body.setProperty("expiresInMs", shown == null ? null : shown.remaining().toMillis());
        body.setProperty("fence", shown == null ? null : shown.fence());
        body.setProperty("mine", mine);
        body.setProperty("mayTakeOver", shown != null && mayTakeOver);
        body.setProperty("note", shown == null ? null : shown.note());
        return problem.retryAfter(holder == null ? SOON : holder.remaining());
    }

    /** By the database's clock: the browser knows the reader's time of day, the server does not. */
    private static String howLong(LockData held) {
        if (held.acquiredAt() == null || held.expiresAt() == null) {
            return "some time";
        }
        long minutes = Duration.between(held.acquiredAt(), held.expiresAt().minus(held.remaining()))
                .toMinutes();
        return minutes < 1
                ? "less than a minute"
                : minutes == 1 ? "a minute" : minutes < 120 ? minutes + " minutes" : minutes / 60 + " hours";
    }

    static EditLockProblem lapsed(LockName name, @Nullable String takenAwayBy) {
        String why = takenAwayBy == null ? "has ended" : "was taken away by " + takenAwayBy;
        EditLockProblem problem = new EditLockProblem(
                HttpStatus.GONE,
                "lapsed",
                "The lock is gone",
                "Your lock on " + text(name) + " " + why + (why.endsWith(".") ? " Nobody" : ", and nobody")
                        + " has it now. Open the editor again.",
                null);
        if (takenAwayBy != null) {
            problem.getBody().setProperty("takenAwayBy", takenAwayBy);
        }
        return problem;
    }

    static EditLockProblem fenceMoved(LockName name) {
        return new EditLockProblem(
                HttpStatus.PRECONDITION_FAILED,
                "fence-moved",
                "Not the holder you saw",
                text(name) + " is free by now, or someone else's. Look again.",
                null);
    }

    static EditLockProblem staleVersion(@Nullable Throwable cause) {
        return new EditLockProblem(
                HttpStatus.PRECONDITION_FAILED,
                "stale-version",
                "Your copy is old",
                "Someone has saved this since you loaded it. Load it again.",
                cause);
    }

    static EditLockProblem savingNow(@Nullable Throwable cause) {
        return new EditLockProblem(
                        HttpStatus.CONFLICT,
                        "saving-now",
                        "Someone is saving right now",
                        "Someone is saving this right now. Try again.",
                        cause)
                .retryAfter(SOON);
    }

    static EditLockProblem unavailable(@Nullable Throwable cause) {
        return new EditLockProblem(
                        HttpStatus.SERVICE_UNAVAILABLE,
                        "unavailable",
                        "Locks are not available",
                        "The database did not answer, or something is being saved for long. Whether you have the lock is not"
                                + " known. Try again.",
                        cause)
                .retryAfter(LATER);
    }

    static EditLockProblem tooManyLocks(int most) {
        return new EditLockProblem(
                        HttpStatus.TOO_MANY_REQUESTS,
                        "too-many-locks",
                        "Too many edit locks",
                        "You are editing " + most
                                + " things already, which is as many as one person may. Close another one.",
                        null)
                .retryAfter(LATER);
    }

    static EditLockProblem tooManyListenersOfOne(int most) {
        return new EditLockProblem(
                        HttpStatus.TOO_MANY_REQUESTS,
                        "too-many-listeners",
                        "Too many listeners",
                        "You listen for changes " + most + " times already, which is as often as one person may.",
                        null)
                .retryAfter(LATER);
    }

    static EditLockProblem tooManyListeners() {
        return new EditLockProblem(
                        HttpStatus.SERVICE_UNAVAILABLE,
                        "too-many-listeners",
                        "Too many listeners",
                        "Too many listen for changes, or the server is stopping. Try again later.",
                        null)
                .retryAfter(LATER);
    }

    private static String text(LockName name) {
        return name.type() + " " + name.id();
    }
}
