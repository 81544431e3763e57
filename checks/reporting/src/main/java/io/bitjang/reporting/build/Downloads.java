// SPDX-License-Identifier: Apache-2.0
package io.bitjang.reporting.build;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** What Maven fetches. */
final class Downloads {

    private static final Pattern BEGINS = Pattern.compile("Downloading from \\S+: (\\S+)");
    private static final Pattern ENDS = Pattern.compile("Downloaded from \\S+: (\\S+) \\(([\\d.]+) (B|kB|MB|GB)\\b");

    private final Path repository;
    private String current = "";
    private double megabytes;
    private int files;
    private String told = "";

    Downloads(Path repository) {
        this.repository = repository;
    }

    void hear(String line) {
        Matcher ends = ENDS.matcher(line);
        Matcher begins = BEGINS.matcher(line);
        if (ends.find()) {
            files++;
            megabytes += Double.parseDouble(ends.group(2)) * megabytesOf(ends.group(3));
            if (current.equals(ends.group(1))) {
                current = "";
            }
        } else if (begins.find()) {
            current = begins.group(1);
        }
    }

    /** Empty when nothing has changed. */
    String news() {
        long soFar = partOf(current);
        if (files == 0 && soFar == 0) {
            return "";
        }
        String now = Build.format("        downloaded %,d files, %,.0f MB", files, megabytes)
                + (soFar == 0
                        ? ""
                        : Build.format(
                                "; now %s, %,d MB so far", current.substring(current.lastIndexOf('/') + 1), soFar));
        String news = now.equals(told) ? "" : now;
        told = now;
        return news;
    }

    /** Megabytes of a file that Maven writes next to where it will be; the end of its address is its place. */
    private long partOf(String url) {
        String[] parts = url.split("/");
        for (int from = 3; from < parts.length - 3; from++) {
            Path place = repository.resolve(String.join("/", Arrays.copyOfRange(parts, from, parts.length - 1)));
            if (Files.isDirectory(place)) {
                return largest(place, parts[parts.length - 1]);
            }
        }
        return 0;
    }

    private static long largest(Path folder, String prefix) {
        try (Stream<Path> found = Files.list(folder)) {
            return found.filter(file -> file.getFileName().toString().startsWith(prefix))
                    .mapToLong(file -> file.toFile().length() / 1_000_000)
                    .max()
                    .orElse(0);
        } catch (IOException e) {
            return 0;
        }
    }

    private static double megabytesOf(String unit) {
        return switch (unit) {
            case "GB" -> 1000;
            case "MB" -> 1;
            case "kB" -> 0.001;
            default -> 0.000001;
        };
    }
}
