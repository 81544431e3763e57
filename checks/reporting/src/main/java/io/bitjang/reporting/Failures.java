// SPDX-License-Identifier: Apache-2.0
package io.bitjang.reporting;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Keeps what explains a red test, in a file that is named for it: the error, the last events of the locks of this JVM, its threads,
 * and the last lines of its servers' logs.
 */
final class Failures {

    private final Path folder;
    private final LockLog locks = LockLog.ofThisJvm();

    Failures(Path folder) {
        this.folder = folder;
    }

    void keep(String className, String test, Optional<Throwable> error) {
        StringWriter text = new StringWriter();
        text.append(className).append(' ').append(test).append("\n\n");
        error.ifPresent(thrown -> thrown.printStackTrace(new PrintWriter(text, true)));
        text.append("\n== The last events of the locks\n").append(locks.tail());
        text.append("\n== The threads after the failure\n").append(threads());
        text.append("\n== The last lines of the servers\n").append(servers());
        write(className, test, text.toString());
    }

    /** Called by {@link Hangs} while the test still hangs. */
    void hang(String className, String test) {
        write(
                className,
                test,
                className + ' ' + test + " took too long. What its threads did when it was interrupted:\n\n" + threads()
                        + "\n== The last events of the locks\n" + locks.tail() + '\n');
    }

    private void write(String className, String test, String text) {
        String name = (className + "." + test).replaceAll("[^\\w.,\\[\\]-]+", "_");
        try {
            Files.createDirectories(folder);
            Files.writeString(
                    folder.resolve(name.substring(0, Math.min(name.length(), 200)) + ".txt"),
                    text,
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        } catch (IOException e) {
            System.err.println("The explanation of " + name + " could not be kept: " + e);
        }
    }

    private static String threads() {
        return Arrays.stream(ManagementFactory.getThreadMXBean().dumpAllThreads(true, true))
                .map(Failures::described)
                .collect(Collectors.joining("\n"));
    }

    /** {@link ThreadInfo#toString} stops after eight frames. */
    private static String described(ThreadInfo thread) {
        StringBuilder text = new StringBuilder("\"" + thread.getThreadName() + "\" " + thread.getThreadState()
                + (thread.getLockName() == null ? "" : " on " + thread.getLockName())
                + (thread.getLockOwnerName() == null ? "" : " of \"" + thread.getLockOwnerName() + "\""));
        for (StackTraceElement frame : thread.getStackTrace()) {
            text.append("\n    at ").append(frame);
        }
        return text.append('\n').toString();
    }

    /** By its name, because not every module's tests have the testkit. */
    private static String servers() {
        try {
            return (String) Class.forName("io.bitjang.testkit.TestDatabases")
                    .getMethod("logs")
                    .invoke(null);
        } catch (ReflectiveOperationException | LinkageError e) {
            return "(none)\n";
        }
    }
}
