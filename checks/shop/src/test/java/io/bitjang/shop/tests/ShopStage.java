// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.tests;

import com.microsoft.playwright.Page;
import io.bitjang.browser.Browsers;
import io.bitjang.shop.orders.Order;
import io.bitjang.shop.orders.OrderNo;
import io.bitjang.shop.orders.OrderRepository;
import io.bitjang.shop.orders.Scene;
import io.bitjang.shop.orders.ShippingInfo;
import io.bitjang.shop.start.Options;
import io.bitjang.shop.start.Start;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.context.ConfigurableApplicationContext;

/** A shop on one database, and a browser: started once for all tests. */
final class ShopStage implements AutoCloseable {
    /** Short, so that a test can wait for its end. */
    static final int LEASE_SECONDS = 6;

    private static final Path FILES = Path.of("target", "shop");

    private final ConfigurableApplicationContext shop;
    private final Browsers browsers;
    private final AtomicInteger numbers = new AtomicInteger(7_000);

    private ShopStage(String database) {
        shop = Start.shop(Options.of(
                "--database=" + database,
                "--port=0",
                "--shop.run-file=" + FILES.resolve(database + ".properties").toAbsolutePath(),
                "--bitjang.edit-locks.lease=" + LEASE_SECONDS + "s",
                "--bitjang.edit-locks.leave=2s",
                "--shop.slowness=6s",
                "--shop.parcel=6s",
                "--shop.patience=15s"));
        browsers = new Browsers(Start.address(shop), ShopStage::signIn);
    }

    static ShopStage on(String database, ExtensionContext context) {
        return context.getRoot()
                .getStore(ExtensionContext.Namespace.create(ShopStage.class))
                .computeIfAbsent(database, ShopStage::new, ShopStage.class);
    }

    Browsers browsers() {
        return browsers;
    }

    <T> T bean(Class<T> type) {
        return shop.getBean(type);
    }

    /** Where nodes that were not started by the shop find its database. */
    static Path runFile(String database) {
        return FILES.resolve(database + ".properties").toAbsolutePath();
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
        browsers.close();
        shop.close();
    }
}
