// SPDX-License-Identifier: Apache-2.0
/**
 * Real databases for tests, and the means to make them misbehave.
 *
 * <p>{@link io.bitjang.testkit.TestDatabases} starts PostgreSQL, MySQL, MariaDB and H2 on the test's own machine, or reaches servers
 * that the user names. {@link OnDatabase} binds a test class to one of them and {@link io.bitjang.testkit.LeakCheck}
 * fails a test that leaves a connection, a transaction or a thread behind. {@link CountingDataSource} counts what
 * is sent, {@link TcpProxy} loses what is answered, and {@link io.bitjang.testkit.ChildJvm} is another process to
 * kill, to stop, or to give a wrong clock. {@link Cluster} is a database of three servers, each of which can be killed, stopped,
 * cut off from the others, held back, or given a wrong clock.
 */
@NullMarked
package io.bitjang.testkit;

import org.jspecify.annotations.NullMarked;
