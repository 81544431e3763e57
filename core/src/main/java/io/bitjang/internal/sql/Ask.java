// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.internal.sql.Database.Statements;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.OptionalLong;

/**
 * One statement with its values, and how its answer is read.
 *
 * @param <A> the answer
 */
public record Ask<A>(Sql sql, Params params, Reading<A> reading) {

    /** Reads the row that a result set stands on. */
    public interface RowReader<R> {
        /** Reads the row. */
        R read(ResultSet row) throws SQLException;
    }

    /** Runs a statement and reads its answer. */
    @FunctionalInterface
    public interface Reading<A> {
        /** Runs the statement and reads its answer. */
        A on(Statements statements, Sql sql, Params params) throws SQLException;
    }

    /** Makes an update that answers with one number, or none if it changed nothing. */
    public static Ask<OptionalLong> number(Sql sql, Params params) {
        return new Ask<>(sql, params, Statements::number);
    }

    /** Makes a statement that answers with the number of changed rows. */
    public static Ask<Integer> count(Sql sql, Params params) {
        return new Ask<>(sql, params, Statements::update);
    }

    /** Makes a statement that answers with rows. */
    public static <R> Ask<List<R>> rows(Sql sql, Params params, RowReader<R> reader) {
        return new Ask<>(sql, params, (statements, query, values) -> statements.query(query, values, reader));
    }

    A on(Statements statements) throws SQLException {
        return reading.on(statements, sql, params);
    }
}
