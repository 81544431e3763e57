// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.nodes;

import io.bitjang.shop.web.Live;
import java.util.List;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.server.ResponseStatusException;

/** The page of the nodes. */
@Controller
class NodePages {

    private final Nodes nodes;
    private final Live live;

    NodePages(Nodes nodes, Live live) {
        this.nodes = nodes;
        this.live = live;
    }

    @GetMapping("/nodes")
    String page(Model model) {
        return show(model, "nodes");
    }

    @GetMapping("/nodes/live")
    String live(Model model) {
        return show(model, "nodes :: live");
    }

    private String show(Model model, String view) {
        List<Nodes.Shown> all = nodes.all();
        model.addAttribute("nodes", all);
        model.addAttribute("failed", nodes.failed(all));
        model.addAttribute("job", nodes.job().orElse(null));
        model.addAttribute("plain", nodes.lines(Ledger.PLAIN));
        model.addAttribute("guarded", nodes.lines(Ledger.GUARDED));
        model.addAttribute("full", nodes.isFull());
        return view;
    }

    /** For the operator only. */
    @PostMapping("/nodes/act/{what}")
    String act(@PathVariable String what, @RequestParam(defaultValue = "0") long pid) {
        switch (what) {
            case "start" -> nodes.start();
            case "kill" -> nodes.kill(pid);
            case "pause" -> nodes.pause(pid);
            case "wake" -> nodes.wake(pid);
            default -> throw new ResponseStatusException(HttpStatus.NOT_FOUND);
        }
        live.changed("nodes");
        return "redirect:/nodes";
    }
}
