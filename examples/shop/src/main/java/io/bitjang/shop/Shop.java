// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop;

import io.bitjang.shop.load.Load;
import io.bitjang.shop.nodes.Node;
import io.bitjang.shop.start.Failure;
import io.bitjang.shop.start.Options;
import io.bitjang.shop.start.RunFile;
import io.bitjang.shop.start.Start;
import org.springframework.context.ConfigurableApplicationContext;

/** The shop, from the command line. {@code examples/shop/run --help} says what it can do. */
public final class Shop {

    private Shop() {}

    /** Runs it. The exit code is 0 if all went well, 1 if the load has lost something, 2 if it can't start. */
    public static void main(String[] arguments) {
        try {
            Options options = Options.of(arguments);
            switch (options.command()) {
                case NODE -> Node.run(RunFile.ofThisClone().read());
                case LOAD -> System.exit(Load.run(options) ? 0 : 1);
                case SHOP -> open(options);
            }
        } catch (RuntimeException e) {
            System.err.println(Failure.of(e).line());
            System.exit(2);
        }
    }

    private static void open(Options options) {
        System.out.println("Starting the shop ...");
        ConfigurableApplicationContext shop = Start.shop(options);
        System.out.printf("""

                The shop is open, on %s
                  look here     %s
                  sign in as    operator (password operator) or customer (password customer)
                  two people    one in this browser, the other in a private window
                  more nodes    ./examples/shop/run node
                  the end       Ctrl-C%n""", shop.getEnvironment().getProperty("shop.database"), Start.address(shop));
    }
}
