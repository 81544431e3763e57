// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.web;

import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.GetMapping;

/** The way in. */
@Controller
class HomePage {

    @GetMapping("/")
    String home() {
        return "home";
    }

    @GetMapping("/login")
    String login() {
        return "login";
    }
}
