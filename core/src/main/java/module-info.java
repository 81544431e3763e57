// SPDX-License-Identifier: Apache-2.0

/** Locking for Java on the database a team already runs. */
module io.bitjang.core {
    requires transitive java.sql;
    requires static transitive org.jspecify;

    exports io.bitjang;
    exports io.bitjang.admin;
    exports io.bitjang.spi;
}
