// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The names of the tables, as settings may change them. Since identifiers can't be bound, they are checked here.
 *
 * @param schema the schema (on MySQL and MariaDB the database) that they are in; null for the connection's own
 * @param prefix what their names begin with
 */
public record Tables(@Nullable String schema, String prefix) {

    private static final Pattern IDENTIFIER = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,39}");

    /** Checks both identifiers. */
    public Tables {
        requireIdentifier("table prefix", prefix);
        if (schema != null) {
            requireIdentifier("schema", schema);
        }
    }

    /** Names the table of locks. */
    public String locks() {
        return qualified("locks");
    }

    /** Names the table of the audit trail. */
    public String audit() {
        return qualified("audit");
    }

    /** Names the table that says which version of the schema is there. */
    public String version() {
        return qualified("schema_version");
    }

    /** Names the table of session locks, where the database has none of its own. */
    public String sessions() {
        return qualified("sessions");
    }

    /** Names what has this name, with the prefix and the schema in front of it. */
    public String qualified(String name) {
        return (schema == null ? "" : schema + ".") + prefix + name;
    }

    private static void requireIdentifier(String what, String text) {
        if (!IDENTIFIER.matcher(text).matches()) {
            throw new IllegalArgumentException("The " + what + " must be an identifier of 1 to 40 letters, digits and "
                    + "underscores that does not begin with a digit, not '" + text + "'");
        }
    }
}
