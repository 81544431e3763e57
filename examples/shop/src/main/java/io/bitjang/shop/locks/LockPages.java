// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.locks;

import io.bitjang.LockData;
import io.bitjang.LockName;
import io.bitjang.LockingFailException;
import io.bitjang.admin.LockAdmin;
import io.bitjang.shop.web.Live;
import jakarta.servlet.http.HttpServletResponse;
import java.security.Principal;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.server.ResponseStatusException;

/** What is locked now, and how to take it away. For the operator only. */
@Controller
class LockPages {

    private static final int AUDIT_SHOWN = 12;
    private static final int LONGEST_REASON = 200;

    private final LockView view;
    private final LockAdmin admin;
    private final Live live;

    LockPages(LockView view, LockAdmin admin, Live live) {
        this.view = view;
        this.admin = admin;
        this.live = live;
    }

    @GetMapping("/locks")
    String page(
            @RequestParam @Nullable String state,
            @RequestParam @Nullable String type,
            @RequestParam @Nullable String id,
            @RequestParam @Nullable String owner,
            Model model) {
        return show(wanted(state, type, id, owner), model, "locks");
    }

    @GetMapping("/locks/live")
    String live(
            @RequestParam @Nullable String state,
            @RequestParam @Nullable String type,
            @RequestParam @Nullable String id,
            @RequestParam @Nullable String owner,
            Model model) {
        return show(wanted(state, type, id, owner), model, "locks :: live");
    }

    private static LockView.Wanted wanted(
            @Nullable String state, @Nullable String type, @Nullable String id, @Nullable String owner) {
        return new LockView.Wanted(state, text(type), text(id), text(owner));
    }

    private static @Nullable String text(@Nullable String value) {
        return value == null || value.isBlank() ? null : value.strip();
    }

    private String show(LockView.Wanted wanted, Model model, String page) {
        model.addAttribute("wanted", wanted);
        model.addAttribute("state", LockView.state(wanted.state()).name().toLowerCase(Locale.ROOT));
        model.addAttribute("rows", view.rows(wanted));
        model.addAttribute("audit", admin.audit(AUDIT_SHOWN));
        return page;
    }

    @GetMapping("/locks/release")
    String ask(@RequestParam String type, @RequestParam String id, @RequestParam long fence, Model model) {
        LockName name = name(type, id);
        model.addAttribute("lock", admin.find(name).filter(LockData::held).orElse(null));
        model.addAttribute("name", name);
        model.addAttribute("fence", fence);
        return "release";
    }

    @PostMapping("/locks/release")
    String release(
            @RequestParam String type,
            @RequestParam String id,
            @RequestParam long fence,
            @RequestParam(defaultValue = "") String reason,
            Principal person,
            Model model,
            HttpServletResponse response) {
        LockName name = name(type, id);
        String why = reason.strip();
        if (why.isEmpty() || why.length() > LONGEST_REASON) {
            return again("release.reason", HttpStatus.UNPROCESSABLE_CONTENT, name, fence, reason, model, response);
        }
        try {
            if (admin.forceRelease(name, fence, person.getName(), why)) {
                live.changed("locks");
                return "redirect:/locks?released";
            }
            return again("release.moved", HttpStatus.PRECONDITION_FAILED, name, fence, reason, model, response);
        } catch (IllegalArgumentException e) { // a text that can't be kept
            return again("release.reason", HttpStatus.UNPROCESSABLE_CONTENT, name, fence, "", model, response);
        } catch (LockingFailException e) {
            if (e.getCause() != null) {
                throw e; // the database's fault
            }
            return again("release.saving", HttpStatus.CONFLICT, name, fence, reason, model, response);
        }
    }

    private String again(
            String wrong,
            HttpStatus status,
            LockName name,
            long fence,
            String reason,
            Model model,
            HttpServletResponse response) {
        model.addAttribute("wrong", wrong);
        model.addAttribute("reason", reason);
        response.setStatus(status.value());
        return ask(name.type(), name.id(), fence, model);
    }

    private static LockName name(String type, String id) {
        try {
            return LockName.of(type, id);
        } catch (IllegalArgumentException e) {
            throw new ResponseStatusException(HttpStatus.BAD_REQUEST, e.getMessage(), e);
        }
    }
}
