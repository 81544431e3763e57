// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class SqlTest {

    @Test
    void names_become_question_marks_in_their_order() {
        Sql sql = Sql.parse("UPDATE t SET a = :first, b=:second WHERE c IN (:first,:third)");

        assertThat(sql.text()).isEqualTo("UPDATE t SET a = ?, b=? WHERE c IN (?,?)");
        assertThat(sql.parameters()).containsExactly("first", "second", "first", "third");
    }

    @Test
    void a_name_ends_where_an_identifier_ends() {
        Sql sql = Sql.parse("SELECT :lockId*8+:micros0 - :type12, :last");

        assertThat(sql.text()).isEqualTo("SELECT ?*8+? - ?, ?");
        assertThat(sql.parameters()).containsExactly("lockId", "micros0", "type12", "last");
    }

    @Test
    void casts_are_left_alone() {
        Sql sql = Sql.parse("SELECT :a::bigint, (now())::text, b::varchar(255) || :c");

        assertThat(sql.text()).isEqualTo("SELECT ?::bigint, (now())::text, b::varchar(255) || ?");
        assertThat(sql.parameters()).containsExactly("a", "c");
    }

    @Test
    void text_in_quotes_is_left_alone() {
        String quoted = "SELECT ':a', \":b\", `:c`, '$[*]', 'it'':d', '12:30'";

        assertThat(Sql.parse(quoted)).isEqualTo(new Sql(quoted, List.of()));
        assertThat(Sql.parse("SELECT ':a' || :b || ':c'").parameters()).containsExactly("b");
    }

    @Test
    void a_colon_without_a_name_is_left_alone() {
        assertThat(Sql.parse("SELECT a[1:2], b : c, :").text()).isEqualTo("SELECT a[1:2], b : c, :");
    }

    @Test
    void a_statement_without_parameters_stays_as_it_is() {
        assertThat(Sql.parse("SELECT 1").text()).isEqualTo("SELECT 1");
        assertThat(Sql.parse("").text()).isEmpty();
    }
}
