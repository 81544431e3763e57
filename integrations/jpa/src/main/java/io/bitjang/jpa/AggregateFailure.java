// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa;

/** What all failures that concern one aggregate can tell. */
public interface AggregateFailure {

    /** The aggregate's type. */
    Class<?> aggregateType();

    /** Its id; a list of ids if several were asked for at once and the database does not say which it was. */
    Object aggregateId();
}
