// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import io.bitjang.LockName;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.RecoverableDataAccessException;
import org.springframework.dao.TransientDataAccessResourceException;
import org.springframework.dao.UncategorizedDataAccessException;
import org.springframework.transaction.TransactionException;

/** Asks for versions, and compares them as {@code If-Match} does. */
final class Etags {

    private static final Log LOG = LogFactory.getLog(Etags.class);
    private static final Pattern LISTED = Pattern.compile("\\s*(W/)?(\"[^\"]*\"|[^\",\\s]+)\\s*(,|$)");

    private Etags() {}

    /** The one that the application says; a problem if there is none, or the database is away. */
    static String current(EditLockVersions versions, LockName name) {
        try {
            return versions.etag(name).orElseThrow(() -> EditLockProblem.notFound(name));
        } catch (DataAccessResourceFailureException
                | TransientDataAccessResourceException
                | RecoverableDataAccessException
                | UncategorizedDataAccessException
                | TransactionException e) { // a connection that breaks in the middle shows as a rollback that failed
            LOG.warn("Answered by 503: the version of " + name + " could not be read", e);
            throw EditLockProblem.unavailable(e);
        }
    }

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
