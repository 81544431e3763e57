// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.internal.dialect.Dialect;
import io.bitjang.internal.dialect.RowUpdate;
import io.bitjang.internal.dialect.SessionDialect;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The language of the simulated table: its statements are known by what they are, not by their text. */
public record SimDialect(SimTable.Server server) implements Dialect {

    private static final Tables TABLES = new Tables(null, "bitjang_");

    /** Made once for all worlds: to translate them for each process took an eighth of the time. */
    private static final Map<SimTable.Server, LockSql> STATEMENTS = Stream.of(SimTable.Server.values())
            .collect(Collectors.toMap(server -> server, server -> new LockSql(new SimDialect(server), TABLES)));

    static final String TAKE_ALL = "take all";
    static final String RAISE_FENCES = "raise fences";

    static LockSql statements(SimTable.Server server) {
        return Objects.requireNonNull(STATEMENTS.get(server));
    }

    @Override
    public List<String> questions() {
        return List.of();
    }

    @Override
    public @Nullable String unfit(Map<String, String> facts) {
        return null;
    }

    @Override
    public String id() {
        return "simulated";
    }

    @Override
    public String now() {
        return "now";
    }

    @Override
    public String write(RowUpdate change) {
        return "write";
    }

    @Override
    public String writeListed(String table, String condition, String assignments) {
        return condition.startsWith("l.fence <") ? RAISE_FENCES : "write listed";
    }

    @Override
    public String listedRows() {
        return "listed";
    }

    @Override
    public boolean bindsJson() {
        return false;
    }

    @Override
    public Optional<String> upsert(String table, String columns) {
        return server == SimTable.Server.READS_FIRST ? Optional.empty() : Optional.of("upsert");
    }

    @Override
    public String takeAll(String table, int names) {
        return TAKE_ALL;
    }

    @Override
    public boolean insertsAll() {
        return server == SimTable.Server.FAILS;
    }

    @Override
    public String insertFree(String table) {
        return "insert free";
    }

    @Override
    public Optional<String> insertGranted(String table) {
        return Optional.of("insert granted");
    }

    @Override
    public String pin() {
        return "";
    }

    @Override
    public SessionDialect sessions(String table) {
        return new SimSessionDialect();
    }
}
