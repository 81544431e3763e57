// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Collections;
import java.util.function.Predicate;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipFile;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.compressors.xz.XZCompressorInputStream;

/** Unpacks the archives that the database binaries come in. */
final class Archives {

    private Archives() {}

    static void untarXz(InputStream archive, Path target) throws IOException {
        try (var tar = new TarArchiveInputStream(new XZCompressorInputStream(new BufferedInputStream(archive)))) {
            for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
                Path file = inside(target, entry.getName());
                if (entry.isDirectory()) {
                    Files.createDirectories(file);
                    continue;
                }
                Files.createDirectories(file.getParent());
                if (entry.isSymbolicLink()) {
                    Files.createSymbolicLink(file, Path.of(entry.getLinkName()));
                } else if (entry.isLink()) {
                    Files.createLink(file, inside(target, entry.getLinkName()));
                } else {
                    Files.copy(tar, file);
                    if ((entry.getMode() & 0100) != 0) {
                        makeExecutable(file);
                    }
                }
            }
        }
    }

    /** Unpacks the wanted entries below {@code prefix}; whatever lies in {@code bin} becomes executable, as a zip can't say so. */
    static void unzip(Path archive, String prefix, Predicate<String> wanted, Path target) throws IOException {
        try (ZipFile zip = opened(archive)) {
            for (ZipEntry entry : Collections.list(zip.entries())) {
                if (entry.isDirectory() || !entry.getName().startsWith(prefix)) {
                    continue;
                }
                String name = entry.getName().substring(prefix.length());
                if (!wanted.test(name)) {
                    continue;
                }
                Path file = inside(target, name);
                Files.createDirectories(file.getParent());
                try (InputStream content = zip.getInputStream(entry)) {
                    Files.copy(content, file);
                }
                if (name.startsWith("bin/")) {
                    makeExecutable(file);
                }
            }
        }
    }

    /** A download that was cut off has no directory at its end. */
    private static ZipFile opened(Path archive) throws IOException {
        try {
            return new ZipFile(archive.toFile());
        } catch (ZipException e) {
            throw new IOException(
                    archive + " is damaged, perhaps a download that was cut off (" + e.getMessage()
                            + "): delete it, and it is downloaded again",
                    e);
        }
    }

    private static void makeExecutable(Path file) throws IOException {
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private static Path inside(Path target, String name) throws IOException {
        Path file = target.resolve(name).normalize();
        if (!file.startsWith(target)) {
            throw new IOException("Archive entry '" + name + "' would leave " + target);
        }
        return file;
    }
}
