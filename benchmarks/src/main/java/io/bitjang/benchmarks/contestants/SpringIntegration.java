// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.contestants;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.benchmarks.places.Place;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.locks.Lock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;

/** Spring Integration's {@code JdbcLockRegistry}, with its own table. */
final class SpringIntegration implements Contestant {

    private static final Pattern TABLE = Pattern.compile("CREATE TABLE INT_LOCK[^;]*", Pattern.DOTALL);

    private final HikariDataSource pool;
    private final JdbcLockRegistry registry;

    SpringIntegration(Place place) throws Exception {
        this.pool = place.pool();
        createTable(place);
        DefaultLockRepository repository = new DefaultLockRepository(pool);
        repository.setTransactionManager(new DataSourceTransactionManager(pool));
        repository.afterPropertiesSet();
        repository.afterSingletonsInstantiated();
        repository.start();
        this.registry = new JdbcLockRegistry(repository);
    }

    private static void createTable(Place place) throws Exception {
        String product = place.isMySqlFamily() ? "mysql" : place.name();
        Matcher table = TABLE.matcher(script("/org/springframework/integration/jdbc/schema-" + product + ".sql"));
        if (!table.find()) {
            throw new IllegalStateException("No table in the library's script for " + product);
        }
        try (Connection connection = place.connect();
                Statement statement = connection.createStatement()) {
            statement.execute(table.group());
        } catch (SQLException e) {
            // it is there
        }
    }

    private static String script(String path) throws IOException {
        try (InputStream in = JdbcLockRegistry.class.getResourceAsStream(path)) {
            if (in == null) {
                throw new IOException("There is no " + path);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Override
    public Section section(String name) {
        Lock lock = registry.obtain(name);
        return Section.of(lock);
    }

    @Override
    public void close() {
        pool.close();
    }
}
