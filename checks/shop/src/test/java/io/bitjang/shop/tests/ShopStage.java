// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.tests;

import com.microsoft.playwright.Page;
import io.bitjang.browser.Browsers;
import io.bitjang.shop.orders.Order;
import io.bitjang.shop.orders.OrderNo;
import io.bitjang.shop.orders.OrderRepository;
import io.bitjang.shop.orders.Scene;
import io.bitjang.shop.orders.ShippingInfo;
import io.bitjang.shop.orders.Slowness;
import io.bitjang.shop.start.Options;
import io.bitjang.shop.start.Start;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;

/** A shop on one database, and a browser: started once for all tests of this JVM, beside which others may run. */
final class ShopStage implements AutoCloseable {
    private static final ExtensionContext.Namespace STAGES = ExtensionContext.Namespace.create(ShopStage.class);

    private final ConfigurableApplicationContext shop;
    private final Browsers browsers;
    private final AtomicInteger numbers = new AtomicInteger(7_000);

    /**
     * Nothing here ends by itself while a test needs it, even if the machine stands still for a while: a test ends it, with {@link
     * #lapse} and {@link Slowness#end}. Only the lease is as short as a test can wait for a renewal.
     */
    private ShopStage(String database, ExtensionContext.Store store) {
        shop = Start.shop(Options.of(
                "--database=" + database,
                "--port=0",
                "--shop.run-file=" + runFile(database),
                "--bitjang.edit-locks.lease=12s",
                "--bitjang.edit-locks.leave=5s",
                "--shop.slowness=60s",
                "--shop.parcel=60s",
                "--shop.patience=15s"));
        String address = Start.address(shop);
        browsers = store.computeIfAbsent(
                        Browsers.class, key -> new Browsers(address, ShopStage::signIn), Browsers.class)
                .at(address);
    }

    static ShopStage on(String database, ExtensionContext context) {
        // of the session: the root's ends with each test class in a JVM that gets them one by one
        ExtensionContext.Store store = context.getStore(ExtensionContext.StoreScope.LAUNCHER_SESSION, STAGES);
        return store.computeIfAbsent(database, key -> new ShopStage(database, store), ShopStage.class);
    }

    Browsers browsers() {
        return browsers;
    }

    <T> T bean(Class<T> type) {
        return shop.getBean(type);
    }

    /** Where nodes that were not started by the shop find its database. */
    static Path runFile(String database) {
        String name = database + "-" + ProcessHandle.current().pid() + ".properties";
        return Path.of("target", "shop", name).toAbsolutePath();
    }

    /** Lets the lock of an order run out: now, instead of at the end of its lease. */
    void lapse(String number) {
        bean(JdbcClient.class)
                .sql("UPDATE bitjang_locks SET expires_at = acquired_at + 1 WHERE type = 'order' AND id = ?")
                .param(number)
                .update();
    }

    /** The number of an order that no other test knows. */
    String newOrder() {
        String number = String.valueOf(numbers.incrementAndGet());
        bean(OrderRepository.class)
                .save(new Order(
                                new OrderNo(number),
                                Scene.NONE,
                                "customer",
                                new ShippingInfo("Kim", "Seoul", "Ring twice."))
                        .with("Tea bowl", 2)
                        .with("Whisk", 1));
        return number;
    }

    /** Somebody else sends it on its way. */
    void ship(String number) {
        Order order = order(number);
        order.startShipping("operator");
        bean(OrderRepository.class).save(order);
    }

    /** Somebody else changes the address. */
    void move(String number, String address) {
        Order order = order(number);
        order.changeShippingInfo(new ShippingInfo("Kim", address, ""), "operator");
        bean(OrderRepository.class).save(order);
    }

    Order order(String number) {
        return bean(OrderRepository.class).require(number);
    }

    static void signIn(Page page, String person) {
        page.navigate("/login");
        page.fill("[name=username]:not([type=hidden])", person);
        page.fill("[name=password]:not([type=hidden])", person);
        page.click("form.fields button");
        page.waitForURL("**/");
    }

    @Override
    public void close() {
        shop.close();
    }
}
