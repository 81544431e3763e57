// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

/** A way to make one database of several machines. */
public enum ClusterKind {
    /** MariaDB with Galera: every member takes writes, and the one that certifies last gives way. */
    GALERA("mariadb"),

    /** MySQL Group Replication where one member takes writes and the group elects another when it is gone. */
    SINGLE_PRIMARY("mysql"),

    /** MySQL Group Replication where every member takes writes. */
    MULTI_PRIMARY("mysql"),

    /** PostgreSQL whose standbys follow when they do: what was acknowledged last is lost with the primary. */
    ASYNCHRONOUS("postgresql"),

    /** PostgreSQL that acknowledges a commit when one standby has it on its disk ({@code synchronous_commit=on}). */
    SYNCHRONOUS("postgresql"),

    /** PostgreSQL that acknowledges a commit when one standby shows it ({@code synchronous_commit=remote_apply}). */
    REMOTE_APPLY("postgresql");

    private final String product;

    ClusterKind(String product) {
        this.product = product;
    }

    /** The product, as {@link TestDatabase#name()} has it. */
    public String product() {
        return product;
    }
}
