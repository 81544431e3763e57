// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.mariadb;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.OnLocks;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import org.junit.jupiter.api.Test;

/** A server of MariaDB that starts removes the temporary tables of all servers that share its folder, and those crash. */
@OnDatabase("mariadb")
class TemporaryFilesTest extends OnLocks {

    @Test
    void servers_of_the_testkit_have_a_folder_for_temporary_files_each() throws Exception {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT @@tmpdir, @@datadir")) {
            row.next();
            assertThat(Path.of(row.getString(1)))
                    .isEqualTo(Path.of(row.getString(2)).resolveSibling("tmp"));
        }
    }
}
