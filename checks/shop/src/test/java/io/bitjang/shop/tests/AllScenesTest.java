// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.tests;

import org.junit.jupiter.api.Nested;

/**
 * A pass of each scene on MySQL, as far as the database has a say in it: its transactions, its clock, its own locks, several processes.
 * What is the page's alone is seen on H2. One class, so that of several JVMs one needs that server.
 */
class AllScenesTest {

    @Nested
    @InShop.OnOthers
    class Editing extends EditingScene {}

    @Nested
    @InShop.OnOthers
    class Versions extends VersionsScene {}

    @Nested
    @InShop.OnOthers
    class Race extends RaceScene {}

    @Nested
    @InShop.OnOthers
    class Cards extends CardsScene {}

    @Nested
    @InShop.OnOthers
    class Nodes extends NodesScene {}

    @Nested
    @InShop.OnOthers
    class Locks extends LocksScene {}
}
