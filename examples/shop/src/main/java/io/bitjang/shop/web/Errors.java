// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.web;

import io.bitjang.shop.orders.Order;
import io.bitjang.shop.orders.OrderLine;
import io.bitjang.shop.orders.OrderRepository;
import io.bitjang.shop.orders.ShippingInfo;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.webmvc.autoconfigure.error.ErrorViewResolver;
import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.transaction.TransactionException;
import org.springframework.web.servlet.ModelAndView;

/**
 * The page for whatever goes wrong: what was typed, next to what is stored, so that nothing is lost. For people's browsers only; who
 * asks for JSON gets the plain status, and who is not signed in sees no order.
 */
@Component
class Errors implements ErrorViewResolver {

    private static final Set<String> NOT_TYPED = Set.of(
            "_csrf",
            "lid",
            "version",
            "clientId",
            "tab",
            "username",
            "password",
            "expectedFence",
            "number",
            "orderNumber",
            "seenAddress",
            "slowly",
            "pid",
            "type",
            "id",
            "fence");
    private static final Set<Integer> TOLD = Set.of(400, 401, 403, 404, 405, 409, 410, 412, 422, 423, 428, 500, 503);
    private static final Set<HttpStatus> AFTER_A_SAVE =
            Set.of(HttpStatus.GONE, HttpStatus.PRECONDITION_FAILED, HttpStatus.LOCKED);
    private static final Pattern OF_ORDER = Pattern.compile("/orders/([^/]+)(/.*)?");
    private static final int LONGEST = 2_000;

    private final OrderRepository orders;

    Errors(OrderRepository orders) {
        this.orders = orders;
    }

    @Override
    public ModelAndView resolveErrorView(
            HttpServletRequest request, HttpStatus status, Map<String, Object> attributes) {
        String number = number(attributes.get("path"));
        boolean asked =
                request.getRemoteUser() != null && !status.is5xxServerError(); // what is stored may be the trouble
        Order stored = asked ? order(number).orElse(null) : null;
        boolean saved = stored != null && AFTER_A_SAVE.contains(status) && isSaved(stored, request);
        Map<String, @Nullable Object> model = new LinkedHashMap<>();
        model.put("status", status.value());
        model.put("key", saved ? "saved" : key(status, String.valueOf(attributes.get("path")), request));
        model.put("typed", typed(request));
        model.put("stored", stored);
        model.put("number", number);
        model.put("saved", saved);
        model.put("bitjangProblem", request.getAttribute("bitjangProblem"));
        return new ModelAndView("error", model, status);
    }

    /** Which text says what happened. */
    private static String key(HttpStatus status, String path, HttpServletRequest request) {
        if (status == HttpStatus.GONE && !isPost(request)) {
            return "410-read"; // nobody wanted to save
        }
        if (status == HttpStatus.UNAUTHORIZED && !path.matches("/orders/[^/]+")) {
            return "401-elsewhere"; // only the editor keeps what was typed
        }
        return String.valueOf(TOLD.contains(status.value()) ? status.value() : status.is5xxServerError() ? 500 : 400);
    }

    /** Since Servlet 6.1 an error page is asked for by GET, whatever failed. */
    private static boolean isPost(HttpServletRequest request) {
        return "POST".equals(request.getAttribute(RequestDispatcher.ERROR_METHOD));
    }

    private static Map<String, String> typed(HttpServletRequest sent) {
        Map<String, String> typed = new LinkedHashMap<>();
        if (isPost(sent)) {
            sent.getParameterMap().forEach((name, values) -> {
                if (!NOT_TYPED.contains(name) && !name.matches(".*\\.(id|product)") && !values[0].isBlank()) {
                    typed.put(label(name, sent), values[0].substring(0, Math.min(values[0].length(), LONGEST)));
                }
            });
        }
        return typed;
    }

    /** The quantity of a line goes by its product. */
    private static String label(String name, HttpServletRequest sent) {
        String product = name.endsWith(".quantity")
                ? sent.getParameter(name.substring(0, name.lastIndexOf('.')) + ".product")
                : null;
        return product == null ? name : product;
    }

    private static @Nullable String number(@Nullable Object path) {
        Matcher matcher = OF_ORDER.matcher(String.valueOf(path));
        return matcher.matches() ? matcher.group(1) : null;
    }

    private Optional<Order> order(@Nullable String number) {
        try {
            return number == null ? Optional.empty() : orders.find(number);
        } catch (DataAccessException | TransactionException e) {
            return Optional.empty(); // perhaps that is why there is an error page
        }
    }

    /** A form that was sent twice: all that it says is stored, by who sent it, in the version that comes after the form's. */
    private static boolean isSaved(Order stored, HttpServletRequest sent) {
        return String.valueOf(stored.getChangedBy()).equals(sent.getRemoteUser())
                && String.valueOf(stored.getVersion() - 1).equals(sent.getParameter("version"))
                && stored.getShippingInfo()
                        .equals(ShippingInfo.typed(
                                sent.getParameter("receiver"),
                                sent.getParameter("address"),
                                sent.getParameter("message")))
                && stored.getLines().stream().allMatch(line -> isSaved(line, sent));
    }

    private static boolean isSaved(OrderLine line, HttpServletRequest sent) {
        for (int i = 0; sent.getParameter("lines[" + i + "].id") != null; i++) {
            if (line.getId().equals(sent.getParameter("lines[" + i + "].id"))) {
                String quantity = sent.getParameter("lines[" + i + "].quantity");
                return quantity != null && String.valueOf(line.getQuantity()).equals(quantity.strip());
            }
        }
        return true;
    }
}
