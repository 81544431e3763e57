// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.editing;

import io.bitjang.LockData;
import io.bitjang.shop.orders.Order;
import io.bitjang.shop.orders.OrderRepository;
import io.bitjang.shop.orders.Scene;
import io.bitjang.spring.web.EditLockSettings;
import io.bitjang.spring.web.EditLocks;
import io.bitjang.spring.web.RequiresEditLock;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.security.Principal;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import org.springframework.beans.InvalidPropertyException;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.validation.BindingResult;
import org.springframework.web.bind.WebDataBinder;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.InitBinder;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.server.ResponseStatusException;

/** An edit screen under an offline lock: the button takes it, the hidden {@code lid} travels with the form, the save gives it back. */
@Controller
class EditPages {

    private static final String TYPE = "order";
    private static final int MOST_LINES = 100;

    private final OrderRepository orders;
    private final EditLocks editLocks;
    private final EditLockSettings settings;

    EditPages(OrderRepository orders, EditLocks editLocks, EditLockSettings settings) {
        this.orders = orders;
        this.editLocks = editLocks;
        this.settings = settings;
    }

    @InitBinder
    void limit(WebDataBinder binder) {
        binder.setAutoGrowCollectionLimit(MOST_LINES);
    }

    @ExceptionHandler(InvalidPropertyException.class)
    void tooManyLines(HttpServletResponse response) throws IOException {
        response.sendError(HttpStatus.BAD_REQUEST.value());
    }

    @GetMapping("/orders")
    String list(Principal person, Model model) {
        List<Order> all = orders.ofScene(Scene.EDITING.name());
        model.addAttribute("orders", all);
        model.addAttribute("lease", settings.lease().toSeconds());
        model.addAttribute("leave", settings.leaveGrace().toSeconds());
        model.addAttribute(
                "editors",
                all.stream()
                        .flatMap(order -> editLocks.find(TYPE, order.getNumber().number(), person).stream())
                        .collect(Collectors.toMap(LockData::id, held -> held)));
        return "orders";
    }

    @GetMapping("/orders/{no}")
    String view(@PathVariable String no, Principal person, Model model) {
        model.addAttribute("order", orders.require(no, Scene.EDITING));
        model.addAttribute("held", editLocks.find(TYPE, no, person).orElse(null));
        return "order";
    }

    /** The button Edit: takes the lock before anything is read. */
    @PostMapping("/orders/{no}/edit")
    String open(@PathVariable String no, @RequestParam(defaultValue = "") String clientId, Principal person) {
        orders.require(no, Scene.EDITING);
        String tab = clientId.isEmpty() ? UUID.randomUUID().toString() : clientId;
        editLocks.open(TYPE, no, person, tab, null);
        return "redirect:/orders/{no}/edit?tab=" + tab;
    }

    /** Others are told why; whoever goes on in another tab needs no reason. Sent twice, it leads to the editor all the same. */
    @PostMapping("/orders/{no}/takeover")
    String takeOver(
            @PathVariable String no,
            @RequestParam long expectedFence,
            @RequestParam(defaultValue = "") String reason,
            @RequestParam(defaultValue = "") String clientId,
            Principal person) {
        orders.require(no, Scene.EDITING);
        String tab = clientId.isEmpty() ? UUID.randomUUID().toString() : clientId;
        String why = reason.isBlank() && isMine(no, person) ? "in another tab" : reason.strip();
        try {
            if (editLocks
                    .takeOver(TYPE, no, person, expectedFence, why, tab, null)
                    .isEmpty()) {
                // it is free by now, or this tab's already; if not, the page says who has it now, and asks again
                editLocks.open(TYPE, no, person, tab, null);
            }
        } catch (IllegalArgumentException e) { // no reason, or one that can't be kept
            throw new ResponseStatusException(HttpStatus.BAD_REQUEST, e.getMessage(), e);
        }
        return "redirect:/orders/{no}/edit?tab=" + tab;
    }

    private boolean isMine(String no, Principal person) {
        return editLocks
                .find(TYPE, no, person)
                .filter(held -> person.getName().equals(held.owner()))
                .isPresent();
    }

    /** The form: resumes the lock, also after a reload. */
    @GetMapping("/orders/{no}/edit")
    String form(@PathVariable String no, @RequestParam(defaultValue = "") String tab, Principal person, Model model) {
        if (tab.isEmpty()) {
            return "redirect:/orders/{no}";
        }
        orders.require(no, Scene.EDITING);
        model.addAttribute("lid", editLocks.resume(TYPE, no, person, tab).id().value());
        Order order = orders.require(no, Scene.EDITING); // read under the lock
        model.addAttribute("order", order);
        model.addAttribute("form", OrderForm.of(order));
        return "edit";
    }

    /** The save: guard, change and release are one transaction. */
    @PostMapping("/orders/{no}")
    @RequiresEditLock(type = TYPE, id = "{no}", version = true, acceptLapsed = true)
    String save(
            @PathVariable String no,
            @ModelAttribute("form") OrderForm form,
            BindingResult errors,
            Principal person,
            Model model,
            HttpServletResponse response) {
        Order order = orders.require(no, Scene.EDITING);
        form.check(errors);
        if (errors.hasErrors()) {
            model.addAttribute("order", order);
            response.setStatus(HttpStatus.UNPROCESSABLE_CONTENT.value());
            return "edit"; // the lock stays, and the template finds the lid again
        }
        form.applyTo(order, person.getName());
        return "redirect:/orders/{no}?saved";
    }
}
