// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.seeds;

import io.bitjang.AlreadyLockedException;
import io.bitjang.Locks;
import io.bitjang.testkit.ChildJvm;
import io.bitjang.testkit.TestDatabase;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;

/** Another process, whose wall clock is ten minutes ahead, tries to take a lock once. */
public final class SkewedNode {

    private SkewedNode() {}

    /** Whether it got the lock; {@code kind} is the type of an edit lock, or {@code dist} for a lock by owner. */
    static String tries(TestDatabase database, String kind, String id) {
        try (ChildJvm child = ChildJvm.of(SkewedNode.class)
                .args(database.jdbcUrl(), database.user(), database.password(), kind, id)
                .jvmArgs("-XX:TieredStopAtLevel=1")
                .faketime("+10m")
                .start()) {
            return child.readLineStartingWith("it is ", Duration.ofMinutes(2));
        }
    }

    /** Arguments: address, user, password, type and id of the lock. */
    public static void main(String[] args) {
        // no pool: its timers would run by the wrong clock too
        InvocationHandler connect = (self, method, arguments) -> connection(args[0], args[1], args[2]);
        DataSource source = (DataSource)
                Proxy.newProxyInstance(SkewedNode.class.getClassLoader(), new Class<?>[] {DataSource.class}, connect);
        try (Locks locks = Locks.builder(source)
                .schema(Locks.Schema.NONE)
                .notifications(false)
                .build()) {
            System.out.println("it is " + (granted(locks, args[3], args[4]) ? "granted" : "refused"));
        }
    }

    /** This JVM is slow, and a server gives up on who takes ten seconds to shake hands: so once more. */
    private static Connection connection(String url, String user, String password) throws SQLException {
        try {
            return DriverManager.getConnection(url, user, password);
        } catch (SQLException e) {
            System.err.println("once more after " + e);
            return DriverManager.getConnection(url, user, password);
        }
    }

    private static boolean granted(Locks locks, String kind, String id) {
        if (kind.equals("dist")) {
            return locks.distLock().tryLock(id, "skewed", Duration.ofMinutes(5));
        }
        try {
            locks.manager().tryLock(kind, id);
            return true;
        } catch (AlreadyLockedException e) {
            return false;
        }
    }
}
