// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.start;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What was said on the command line.
 *
 * @param command what to do
 * @param database which kind of database to start, if no address is given
 * @param url the address of a database of the user's own
 * @param load for the command of that name
 * @param settings of Spring's, as {@code --name=value}
 */
public record Options(
        Command command,
        String database,
        @Nullable String url,
        String user,
        String password,
        int port,
        Load load,
        List<String> settings) {

    /** What the shop can do. */
    public enum Command {
        /** Serve the pages. */
        SHOP,
        /** Be one more node of the job. */
        NODE,
        /** Put a shop under load, and see what became of it. */
        LOAD
    }

    /** So many editors on so many orders for so long. */
    public record Load(int editors, int orders, int seconds) {}

    private static final Set<String> NAMES =
            Set.of("database", "url", "user", "password", "port", "editors", "orders", "seconds");
    private static final List<String> DATABASES = List.of("h2", "postgresql", "mysql", "mariadb");

    /**
     * Reads them.
     *
     * @throws Failure if one is wrong
     */
    public static Options of(String... arguments) {
        Command command = Command.SHOP;
        Map<String, String> values = new LinkedHashMap<>();
        List<String> settings = new ArrayList<>();
        for (String argument : arguments) {
            switch (argument) {
                case "node" -> command = Command.NODE;
                case "load" -> command = Command.LOAD;
                default -> option(argument, values, settings);
            }
        }
        String database = values.getOrDefault("database", "h2");
        if (!DATABASES.contains(database)) {
            throw new Failure("There is no database '" + database + "': choose " + String.join(", ", DATABASES), null);
        }
        return new Options(
                command,
                database,
                values.get("url"),
                values.getOrDefault("user", ""),
                values.getOrDefault("password", ""),
                number("port", values.getOrDefault("port", "8080"), 0, 65_535),
                new Load(
                        number("editors", values.getOrDefault("editors", "200"), 1, 1_000),
                        number("orders", values.getOrDefault("orders", "50"), 1, 1_000),
                        number("seconds", values.getOrDefault("seconds", "60"), 1, 86_400)),
                List.copyOf(settings));
    }

    /** The same on a free port, with more settings. */
    public Options onFreePortWith(List<String> more) {
        List<String> all = Stream.concat(settings.stream(), more.stream()).toList();
        return new Options(command, database, url, user, password, 0, load, all);
    }

    private static void option(String argument, Map<String, String> values, List<String> settings) {
        int equals = argument.indexOf('=');
        if (!argument.startsWith("--") || equals < 0) {
            throw new Failure("'" + argument + "' is not understood: see --help", null);
        }
        String name = argument.substring(2, equals);
        if (NAMES.contains(name)) {
            values.put(name, argument.substring(equals + 1));
        } else if (name.indexOf('.') > 0) {
            settings.add(argument);
        } else {
            throw new Failure("There is no option --" + name + ": see --help", null);
        }
    }

    private static int number(String name, String text, int least, int most) {
        try {
            int number = Integer.parseInt(text);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // said below
        }
        throw new Failure("--" + name + " is a number from " + least + " to " + most + ", not '" + text + "'", null);
    }
}
