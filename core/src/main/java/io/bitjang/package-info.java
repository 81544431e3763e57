// SPDX-License-Identifier: Apache-2.0

/**
 * What users of Bitjang meet.
 *
 * <p>Start at {@link io.bitjang.Locks}: it is made from a {@link javax.sql.DataSource} and hands out the kinds of lock.
 *
 * <ul>
 *   <li>{@link io.bitjang.LockManager}: an <em>offline lock</em>, held by a person through a {@link io.bitjang.LockId} that
 *       travels in a form, across requests.
 *   <li>{@link io.bitjang.LeaseLock} and {@link io.bitjang.Lease}: a <em>lease</em>, held by a process, renewed in the
 *       background while its block runs.
 *   <li>{@link io.bitjang.DistLock}: the same, by the name of an owner, without a handle.
 * </ul>
 *
 * <p>Four rules carry all of them: the database is the only clock; every grant has its own secret id and a growing fence;
 * the guard is part of the business transaction; loss is told to the holder.
 */
@NullMarked
package io.bitjang;

import org.jspecify.annotations.NullMarked;
