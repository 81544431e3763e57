// SPDX-License-Identifier: Apache-2.0
package io.bitjang.browser.app;

import java.util.List;
import java.util.Optional;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/** The notes in the database. */
@Repository
public class Notes {
    private static final RowMapper<Note> NOTE = (row, number) -> new Note(
            row.getString("id"),
            row.getString("title"),
            row.getString("text"),
            row.getString("colour"),
            row.getLong("version"));

    private final JdbcClient jdbc;

    Notes(JdbcClient jdbc) {
        this.jdbc = jdbc;
        jdbc.sql(
                        "create table if not exists notes(id varchar primary key, title varchar, text varchar, colour varchar, version bigint)")
                .update();
    }

    /** A new note with this text. */
    public String add(String id, String text) {
        jdbc.sql("insert into notes values (?, 'A note', ?, 'green', 1)")
                .params(id, text)
                .update();
        return id;
    }

    public Optional<Note> find(String id) {
        return jdbc.sql("select * from notes where id = ?")
                .param(id)
                .query(NOTE)
                .optional();
    }

    public List<Note> all() {
        return jdbc.sql("select * from notes order by id").query(NOTE).list();
    }

    /** Changes a note, whoever has it locked. */
    public void update(String id, String title, String text, String colour) {
        jdbc.sql("update notes set title = ?, text = ?, colour = ?, version = version + 1 where id = ?")
                .params(title, text, colour, id)
                .update();
    }
}
