// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.tests;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Scene 3: operator against customer, in two windows. */
@InShop.OnOne
class RaceTest extends RaceScene {
    @Test
    void unprotected_both_succeed_and_the_parcel_goes_to_the_old_address() {
        Locator lane = meet("unprotected");
        assertThat(outcome(lane)).hasAttribute("data-outcome", "damaged");
        assertThat(outcome(lane))
                .containsText("The label says 12 Sejong-daero, Seoul. The order says 3 Chilseong-ro, Jeju.");
        assertThat(lane.locator(".refused")).hasCount(0);
    }

    @Test
    void optimistic_the_operator_is_refused_at_the_commit() {
        Locator lane = meet("optimistic");
        assertThat(outcome(lane)).hasAttribute("data-outcome", "sound");
        assertThat(outcome(lane)).containsText("Changed, and not yet sent: 3 Chilseong-ro, Jeju.");
        assertThat(lane.locator(".operator.refused")).containsText("ObjectOptimisticLockingFailureException");
    }

    @Test
    void a_line_alone_does_not_move_the_version_of_plain_jpa_and_two_are_sent_where_five_are_wanted() {
        Locator lane = meet("plain-line");
        assertThat(outcome(lane)).hasAttribute("data-outcome", "damaged");
        assertThat(outcome(lane)).containsText("2 are in the parcel. The order says 5.");
        assertThat(versionAfterTheCustomer(lane)).isEqualTo(versionThatTheOperatorSaw(lane));
    }

    @Test
    void a_line_alone_moves_the_version_with_part_of_and_the_operator_is_refused() {
        Locator lane = meet("line");
        assertThat(outcome(lane)).hasAttribute("data-outcome", "sound");
        assertThat(outcome(lane)).containsText("Changed, and not yet sent: 5.");
        assertThat(versionAfterTheCustomer(lane)).isEqualTo(versionThatTheOperatorSaw(lane) + 1);
        Matcher versions = Pattern.compile("Version (\\d+) at the beginning, (\\d+) now")
                .matcher(outcome(lane).textContent());
        assertThat(versions.find()).isTrue();
        assertThat(Long.parseLong(versions.group(2))).isEqualTo(Long.parseLong(versions.group(1)) + 1);
        assertThat(lane.locator(".operator.refused")).containsText("ObjectOptimisticLockingFailureException");
    }
}
