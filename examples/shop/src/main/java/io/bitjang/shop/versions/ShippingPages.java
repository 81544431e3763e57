// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.versions;

import io.bitjang.jpa.VersionConflictException;
import io.bitjang.shop.orders.AlreadyShippedException;
import io.bitjang.shop.orders.Order;
import io.bitjang.shop.orders.OrderRepository;
import io.bitjang.shop.orders.OrderState;
import io.bitjang.shop.orders.Scene;
import io.bitjang.shop.orders.ShippingInfo;
import jakarta.servlet.http.HttpServletResponse;
import java.security.Principal;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;

/** Forms that carry a version. Each way in which a save can fail has its page, and none of them forgets what was typed. */
@Controller
class ShippingPages {

    private final OrderRepository orders;
    private final ChangeShippingService changeShippingService;
    private final StartShippingService startShippingService;

    ShippingPages(
            OrderRepository orders,
            ChangeShippingService changeShippingService,
            StartShippingService startShippingService) {
        this.orders = orders;
        this.changeShippingService = changeShippingService;
        this.startShippingService = startShippingService;
    }

    @GetMapping("/shipping")
    String list(Model model) {
        model.addAttribute("orders", orders.ofScene(Scene.VERSIONS.name()));
        return "shippings";
    }

    @GetMapping("/shipping/{no}")
    String form(@PathVariable String no, Model model) {
        Order order = orders.require(no, Scene.VERSIONS);
        return form(order, order.getShippingInfo(), order.getVersion(), model);
    }

    private static String form(Order order, ShippingInfo typed, long version, Model model) {
        model.addAttribute("order", order);
        model.addAttribute("typed", typed);
        model.addAttribute("version", version);
        return "shipping";
    }

    @PostMapping("/changeShipping")
    String changeShipping(ChangeShippingRequest request, Principal person, Model model, HttpServletResponse response) {
        Order shown = orders.require(request.number(), Scene.VERSIONS);
        ShippingInfo typed = request.shippingInfo();
        String wrong = wrong(typed);
        if (wrong != null) {
            model.addAttribute("wrong", wrong);
            response.setStatus(HttpStatus.UNPROCESSABLE_CONTENT.value());
            return form(shown, typed, request.version(), model);
        }
        try {
            changeShippingService.changeShipping(request, person.getName());
            return "redirect:/shipping/" + shown.getNumber() + "?done=changeShippingSuccess";
        } catch (OptimisticLockingFailureException | PessimisticLockingFailureException e) {
            Order now = orders.require(request.number());
            boolean done = isNextOf(request.version(), person, now) && typed.equals(now.getShippingInfo());
            return failed(now, typed, "change", kind(e, done), model, response);
        } catch (AlreadyShippedException e) {
            return failed(orders.require(request.number()), typed, "change", Kind.SHIPPED, model, response);
        }
    }

    @PostMapping("/startShipping")
    String startShipping(StartShippingRequest request, Principal person, Model model, HttpServletResponse response) {
        Order shown = orders.require(request.orderNumber(), Scene.VERSIONS);
        model.addAttribute("seenAddress", request.seenAddress());
        model.addAttribute("seenVersion", request.version());
        try {
            startShippingService.startShipping(request, person.getName());
            return "redirect:/shipping/" + shown.getNumber() + "?done=startShippingSuccess";
        } catch (OptimisticLockingFailureException | PessimisticLockingFailureException e) {
            Order now = orders.require(request.orderNumber());
            boolean done = isNextOf(request.version(), person, now) && now.getState() == OrderState.SHIPPED;
            return failed(now, now.getShippingInfo(), "ship", kind(e, done), model, response);
        } catch (AlreadyShippedException e) {
            return failed(shown, shown.getShippingInfo(), "ship", Kind.SHIPPED, model, response);
        }
    }

    @PostMapping("/shipping/{no}/again")
    String takeBack(@PathVariable String no, Principal person) {
        orders.require(no, Scene.VERSIONS);
        startShippingService.takeBack(no, person.getName());
        return "redirect:/shipping/{no}";
    }

    /** The same person has saved once since the form was made. If that is what the form wanted, it was sent twice. */
    private static boolean isNextOf(long version, Principal person, Order now) {
        return now.getVersion() == version + 1 && person.getName().equals(now.getChangedBy());
    }

    /**
     * Two kinds of conflict, told apart for people: someone saved before this form was sent, or someone is saving at this very moment.
     * Only the first has a {@link VersionConflictException} as its cause.
     */
    private static Kind kind(RuntimeException thrown, boolean done) {
        boolean before = NestedExceptionUtils.getMostSpecificCause(thrown) instanceof VersionConflictException
                || thrown.getCause() instanceof VersionConflictException;
        return before ? done ? Kind.TWICE : Kind.BEFORE : Kind.NOW;
    }

    /** Why a save did not happen, and how that is answered. */
    private enum Kind {
        BEFORE(HttpStatus.PRECONDITION_FAILED),
        NOW(HttpStatus.CONFLICT),
        SHIPPED(HttpStatus.UNPROCESSABLE_CONTENT),
        TWICE(HttpStatus.OK);

        private final HttpStatus status;

        Kind(HttpStatus status) {
            this.status = status;
        }
    }

    private static String failed(
            Order now, ShippingInfo typed, String wanted, Kind kind, Model model, HttpServletResponse response) {
        model.addAttribute("kind", kind.name().toLowerCase(Locale.ROOT));
        model.addAttribute("wanted", wanted);
        model.addAttribute("order", now);
        model.addAttribute("typed", typed);
        model.addAttribute("version", now.getVersion());
        response.setStatus(kind.status.value());
        return "conflict";
    }

    private static @Nullable String wrong(ShippingInfo typed) {
        if (typed.receiver().isEmpty() || typed.address().isEmpty()) {
            return "shipping.missing";
        }
        boolean tooLong = typed.receiver().length() > ShippingInfo.LONGEST_RECEIVER
                || typed.address().length() > ShippingInfo.LONGEST_ADDRESS
                || typed.message().length() > ShippingInfo.LONGEST_MESSAGE;
        return tooLong ? "shipping.long" : null;
    }
}
