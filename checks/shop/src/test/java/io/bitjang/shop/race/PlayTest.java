// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.race;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.shop.race.Play.Actor;
import io.bitjang.shop.race.Play.Tone;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Pages learn of each move, however long the next one takes. */
class PlayTest {
    private final List<String> told = new ArrayList<>();
    private final Play play = new Play(1, 0, this::look);

    private void look() {
        told.add(play.moves().size() + (play.outcome() == null ? "" : ", over"));
    }

    @Test
    void each_move_and_the_outcome_are_told_when_they_can_be_seen() {
        play.add(Actor.OPERATOR, Tone.WAIT, "race.move.asks");
        play.add(Actor.OPERATOR, Tone.PLAIN, "race.move.label", 6_000L);
        play.outcome(new Play.Outcome(false, true, "Seoul", "Seoul", 0, 1));
        assertThat(told).containsExactly("1", "2", "2, over");
    }
}
