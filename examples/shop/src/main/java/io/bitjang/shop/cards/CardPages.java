// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.cards;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.server.ResponseStatusException;

/** The page with the twenty requests. */
@Controller
class CardPages {

    /** A way, and how it went. */
    record Shown(Way way, @Nullable CardRun run) {}

    private final TwoCards twoCards;

    CardPages(TwoCards twoCards) {
        this.twoCards = twoCards;
    }

    @GetMapping("/cards")
    String page(Model model) {
        model.addAttribute("ways", ways());
        return "cards";
    }

    @GetMapping("/cards/live")
    String live(Model model) {
        model.addAttribute("ways", ways());
        return "cards :: live";
    }

    private List<Shown> ways() {
        return Arrays.stream(Way.values())
                .map(way -> new Shown(way, twoCards.run(way)))
                .toList();
    }

    @PostMapping("/cards/{way}")
    String fire(@PathVariable String way) {
        twoCards.fire(Arrays.stream(Way.values())
                .filter(each -> each.key().equals(way))
                .findFirst()
                .orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND)));
        return "redirect:/cards";
    }
}
