// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.start;

import io.bitjang.shop.ShopApplication;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** Starts the shop: what can be wrong is found out first, so that it can be said in one line. */
public final class Start {

    private Start() {}

    /**
     * Starts it.
     *
     * @throws Failure if it can't be
     */
    public static ConfigurableApplicationContext shop(Options options) {
        requireFree(options.port());
        Database database = Database.start(options);
        Tables.prepare(database);
        RunFile file = RunFile.write(options, database);
        List<String> settings = new ArrayList<>(List.of(
                "--server.port=" + options.port(),
                "--spring.datasource.url=" + database.url(),
                "--spring.datasource.username=" + database.user(),
                "--spring.datasource.password=" + database.password(),
                "--shop.database=" + database.title()));
        settings.addAll(options.settings());
        settings.removeIf(each -> each.startsWith(RunFile.SETTING)); // said twice, it would be a list
        settings.add(RunFile.SETTING + file.path());
        try {
            SpringApplication application = new SpringApplication(ShopApplication.class);
            application.setLogStartupInfo(false);
            return application.run(settings.toArray(String[]::new));
        } catch (RuntimeException e) {
            throw Failure.of(e);
        }
    }

    /** Where the pages are. */
    public static String address(ConfigurableApplicationContext shop) {
        return "http://localhost:" + shop.getEnvironment().getProperty("local.server.port");
    }

    private static void requireFree(int port) {
        try (ServerSocket probe = new ServerSocket()) {
            probe.setReuseAddress(true);
            probe.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        } catch (IOException e) {
            throw e instanceof BindException && String.valueOf(e.getMessage()).contains("in use")
                    ? Failure.portInUse(port, e)
                    : new Failure("The shop can't listen on port " + port + ": " + e.getMessage(), e);
        }
    }
}
