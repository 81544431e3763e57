// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.race;

import io.bitjang.shop.race.Play.Actor;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.server.ResponseStatusException;

/** The page on which operator and customer meet. */
@Controller
class RacePages {

    /** A lane and how it went. */
    record Shown(Lane lane, @Nullable Play play) {}

    private final Race race;

    RacePages(Race race) {
        this.race = race;
    }

    @GetMapping("/race")
    String page(Model model) {
        model.addAttribute("lanes", lanes());
        return "race";
    }

    @GetMapping("/race/live")
    String live(Model model) {
        model.addAttribute("lanes", lanes());
        return "race :: live";
    }

    private List<Shown> lanes() {
        return Arrays.stream(Lane.values())
                .map(lane -> new Shown(lane, race.play(lane)))
                .toList();
    }

    @PostMapping("/race/{lane}/{who}")
    String act(@PathVariable String lane, @PathVariable String who) {
        Lane wanted = Arrays.stream(Lane.values())
                .filter(each -> each.key().equals(lane))
                .findFirst()
                .orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND));
        if (who.equals("both")) {
            race.both(wanted);
        } else if (List.of("operator", "customer").contains(who)) {
            race.act(wanted, Actor.valueOf(who.toUpperCase(Locale.ROOT)));
        } else {
            throw new ResponseStatusException(HttpStatus.NOT_FOUND);
        }
        return "redirect:/race#" + lane;
    }
}
