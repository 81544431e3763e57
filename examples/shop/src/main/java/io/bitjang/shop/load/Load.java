// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.load;

import io.bitjang.LockData;
import io.bitjang.LockName;
import io.bitjang.admin.LockAdmin;
import io.bitjang.shop.orders.Order;
import io.bitjang.shop.orders.OrderNo;
import io.bitjang.shop.orders.OrderRepository;
import io.bitjang.shop.orders.Scene;
import io.bitjang.shop.orders.ShippingInfo;
import io.bitjang.shop.start.Options;
import io.bitjang.shop.start.Start;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Many editors on few orders, over HTTP. Each save counts one on from what its form showed. In the end each order's count must be the
 * number of its saves (nothing lost), its version must have moved as often (none skipped), and nobody may hold a lock any more.
 */
public final class Load {

    static final int FIRST_ORDER = 5001;

    private Load() {}

    /** Runs it; true if nothing was lost. */
    public static boolean run(Options options) {
        Options.Load wanted = options.load();
        List<String> settings = new ArrayList<>(List.of(
                "--shop.editors=" + wanted.editors(),
                "--server.tomcat.threads.max=200",
                // 200 first sessions in one moment: that their random numbers took a tenth of a second is no news
                "--logging.level.org.apache.catalina.util.SessionIdGeneratorBase=error"));
        if (options.settings().stream().noneMatch(each -> each.startsWith("--shop.run-file="))) {
            // not that of a shop which may be open
            settings.add("--shop.run-file="
                    + Path.of(
                            System.getProperty("java.io.tmpdir"),
                            "bitjang-load-" + ProcessHandle.current().pid() + ".properties"));
        }
        try (ConfigurableApplicationContext shop = Start.shop(options.onFreePortWith(settings))) {
            prepare(shop.getBean(OrderRepository.class), wanted.orders());
            say(
                    "%d editors on %d orders for %d s, on %s",
                    wanted.editors(),
                    wanted.orders(),
                    wanted.seconds(),
                    shop.getEnvironment().getRequiredProperty("shop.database"));
            Tally tally = edit(Start.address(shop), wanted);
            return report(shop, wanted.orders(), tally);
        }
    }

    private static void prepare(OrderRepository orders, int count) {
        orders.deleteAll(orders.ofScene(Scene.NONE.name()));
        orders.saveAll(IntStream.range(0, count)
                .mapToObj(i -> new Order(
                        new OrderNo(String.valueOf(FIRST_ORDER + i)),
                        Scene.NONE,
                        "customer",
                        new ShippingInfo("nobody", "count=0", "")))
                .toList());
    }

    private static Tally edit(String address, Options.Load wanted) {
        Tally tally = new Tally();
        ExecutorService io = Executors.newFixedThreadPool(4, Load::daemon);
        ExecutorService people = Executors.newFixedThreadPool(wanted.editors(), Load::daemon);
        CountDownLatch signedIn = new CountDownLatch(wanted.editors());
        IntStream.rangeClosed(1, wanted.editors())
                .mapToObj(i -> new Editor(
                        HttpClient.newBuilder().executor(io).followRedirects(HttpClient.Redirect.NORMAL),
                        address,
                        i,
                        wanted.orders(),
                        Duration.ofSeconds(wanted.seconds()),
                        signedIn,
                        tally))
                .forEach(people::execute);
        people.shutdown();
        try {
            long next = 10;
            while (!people.awaitTermination(next, TimeUnit.SECONDS)) {
                say("  %d saved, %d found someone editing, %d pages", tally.saves(), tally.refusals(), tally.pages());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        io.shutdown();
        return tally;
    }

    private static Thread daemon(Runnable work) {
        Thread made = new Thread(work, "load");
        made.setDaemon(true);
        return made;
    }

    private static boolean report(ConfigurableApplicationContext shop, int orders, Tally tally) {
        OrderRepository repository = shop.getBean(OrderRepository.class);
        LockAdmin admin = shop.getBean(LockAdmin.class);
        List<String> wrong = new ArrayList<>();
        for (int number = FIRST_ORDER; number < FIRST_ORDER + orders; number++) {
            Order order = repository.require(String.valueOf(number));
            long saves = tally.savesOf(number);
            if (!order.getShippingInfo().address().equals("count=" + saves)) {
                wrong.add("order " + number + " was saved " + saves + " times and says "
                        + order.getShippingInfo().address());
            }
            if (saves > 0 && !order.getShippingInfo().receiver().equals(Editor.RECEIVER)) {
                wrong.add("order " + number + " goes to "
                        + order.getShippingInfo().receiver());
            }
            if (order.getVersion() != saves) {
                wrong.add("order " + number + " was saved " + saves + " times and has version " + order.getVersion());
            }
            admin.find(LockName.of("order", String.valueOf(number)))
                    .filter(LockData::held)
                    .ifPresent(held -> wrong.add("a lock was left behind: " + held));
        }
        wrong.addAll(tally.broken());
        say(
                "%d saved, %d found someone editing; %d pages, of which 50 %% took up to %.0f ms, 99 %% up to %.0f ms, the slowest %.0f ms",
                tally.saves(),
                tally.refusals(),
                tally.pages(),
                tally.perMille(500),
                tally.perMille(990),
                tally.perMille(1000));
        if (tally.saves() == 0) {
            wrong.add("nothing was saved at all");
        }
        wrong.forEach(each -> say("WRONG: %s", each));
        if (wrong.isEmpty()) {
            say("Nothing lost, no version skipped, no lock left behind.");
        }
        return wrong.isEmpty();
    }

    private static void say(String text, Object... values) {
        System.out.println(String.format(Locale.ROOT, text, values));
    }
}
