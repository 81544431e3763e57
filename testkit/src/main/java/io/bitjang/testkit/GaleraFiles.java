// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Where the system keeps MariaDB's server and Galera. */
final class GaleraFiles {

    private static final List<String> SERVERS =
            List.of("/usr/sbin/mariadbd", "/usr/libexec/mariadbd", "/usr/bin/mariadbd");
    private static final List<String> PROVIDERS = List.of(
            "/usr/lib/galera/libgalera_smm.so",
            "/usr/lib/galera-4/libgalera_smm.so",
            "/usr/lib64/galera-4/libgalera_smm.so",
            "/usr/lib64/galera/libgalera_smm.so");
    private static final List<String> SHARES = List.of("/usr/share/mysql", "/usr/share/mariadb");

    /** By their names until and since MariaDB 11. */
    private static final List<String> PREFIXES = List.of("mysql", "mariadb");

    private static final List<String> SCRIPTS =
            List.of("_system_tables.sql", "_performance_tables.sql", "_system_tables_data.sql");

    /**
     * Copies all data to a member that lacks more than the others have kept, as the server asks for it, on one machine. The scripts that
     * come with MariaDB need programs and a user of their own. The joiner only waits; the donor stands still while it copies.
     */
    static final String COPYING = """
            #!/bin/sh
            bypass= role= address= data= gtid=
            while [ $# -gt 0 ]; do
              case $1 in
                --role) role=$2; shift ;;
                --address) address=$2; shift ;;
                --datadir) data=${2%/}; shift ;;
                --gtid) gtid=$2; shift ;;
                --bypass) bypass=yes ;;
              esac
              shift
            done
            await() {
              until [ -s "$1" ]; do
                kill -0 $PPID 2>/dev/null || exit 32
                sleep 0.05
              done
            }
            if [ "$role" = joiner ]; then
              rm -f "$data/copied"
              echo "ready $data"
              await "$data/copied"
              cat "$data/copied"
              rm "$data/copied"
              exit
            fi
            if [ -z "$bypass" ]; then
              rm -f "$data/tables_flushed"
              echo "flush tables"
              await "$data/tables_flushed"
              gtid=$(cat "$data/tables_flushed")
              cd "$data" || exit 1
              for file in *; do
                case $file in
                  galera.cache | grastate.dat | gvwstate.dat | tables_flushed | copied* | *.pid | *.sock) continue ;;
                esac
                rm -rf "$address/$file"
                cp -Rp "$file" "$address/" || exit 1
              done
              echo continue
            fi
            echo "$gtid" >"$address/copied.new"
            mv "$address/copied.new" "$address/copied"
            echo "done $gtid"
            """;

    private GaleraFiles() {}

    static Path server() {
        return first(SERVERS);
    }

    static Path provider() {
        return first(PROVIDERS);
    }

    static Path share() {
        return first(SHARES);
    }

    /** One statement a line, as the server's bootstrap wants them. */
    static String systemTables() throws IOException {
        StringBuilder script = new StringBuilder("CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\n");
        for (String name : SCRIPTS) {
            script.append(Shell.read(first(PREFIXES.stream()
                            .map(prefix -> share().resolve(prefix + name).toString())
                            .toList())))
                    .append('\n');
        }
        return script.toString();
    }

    private static Path first(List<String> places) {
        return places.stream()
                .map(Path::of)
                .filter(Files::exists)
                .findFirst()
                .orElseThrow(
                        () -> Unavailable.because("No " + Path.of(places.get(0)).getFileName()
                                + " for a test with a Galera cluster: install the packages mariadb-server-core and galera-4"
                                + " (Debian's names; mariadb-server would start a service, which nobody needs)"));
    }
}
