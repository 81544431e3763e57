// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.LockName;
import java.lang.reflect.Proxy;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ListedRowTest {

    @Test
    void as_json_every_row_is_an_array_of_type_id_secret_and_time() throws SQLException {
        List<ListedRow> rows = List.of(
                new ListedRow(LockName.of("order", "42"), "secret", 30_000_000), ListedRow.of(LockName.of("job")));

        assertThat(json(rows)).isEqualTo("[[\"order\",\"42\",\"secret\",30000000],[\"lock\",\"job\",\"\",0]]");
        assertThat(json(List.of())).isEqualTo("[]");
    }

    @Test
    void as_json_what_would_end_a_text_or_is_not_allowed_in_one_is_escaped() throws SQLException {
        assertThat(json(List.of(ListedRow.of(LockName.of("say \"hi\"", "back\\slash")))))
                .isEqualTo("[[\"say \\\"hi\\\"\",\"back\\\\slash\",\"\",0]]");
        assertThat(json(List.of(ListedRow.of(LockName.of("a\nb\tc\r", "\u0001\u001fx")))))
                .isEqualTo("[[\"a\\u000ab\\u0009c\\u000d\",\"\\u0001\\u001fx\",\"\",0]]");
        assertThat(json(List.of(ListedRow.of(LockName.of("é😀\u2028", "'/%_")))))
                .isEqualTo("[[\"é😀\u2028\",\"'/%_\",\"\",0]]");
    }

    @Test
    void as_arrays_each_column_is_one() throws SQLException {
        List<Object> bound = new ArrayList<>();
        List<ListedRow> rows = List.of(
                new ListedRow(LockName.of("order", "42"), "one", 1),
                new ListedRow(LockName.of("order", "43"), "two", 2));

        ListedRow.bind(Params.none(), false, rows)
                .bind(arrays(bound), ignoring(), List.of("types", "ids", "lockIds", "micros"));

        assertThat(bound)
                .containsExactly(
                        new String[] {"order", "order"},
                        new String[] {"42", "43"},
                        new String[] {"one", "two"},
                        new Long[] {1L, 2L});
    }

    private static String json(List<ListedRow> rows) throws SQLException {
        List<String> bound = new ArrayList<>();
        PreparedStatement statement = proxy(PreparedStatement.class, (method, arguments) -> {
            if (method.equals("setString")) {
                bound.add((String) arguments[1]);
            }
        });
        ListedRow.bind(Params.none(), true, rows).bind(arrays(new ArrayList<>()), statement, List.of("rows"));
        return bound.get(0);
    }

    private static Connection arrays(List<Object> bound) {
        return proxy(Connection.class, (method, arguments) -> {
            if (method.equals("createArrayOf")) {
                bound.add(arguments[1]);
            }
        });
    }

    private static PreparedStatement ignoring() {
        return proxy(PreparedStatement.class, (method, arguments) -> {});
    }

    private interface Call {
        void with(String method, Object[] arguments);
    }

    private static <T> T proxy(Class<T> type, Call call) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    call.with(method.getName(), arguments);
                    return method.getReturnType() == Array.class ? proxy(Array.class, (m, a) -> {}) : null;
                }));
    }
}
