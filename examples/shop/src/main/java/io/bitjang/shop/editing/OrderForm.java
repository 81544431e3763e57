// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.editing;

import io.bitjang.shop.orders.Order;
import io.bitjang.shop.orders.OrderLine;
import io.bitjang.shop.orders.ShippingInfo;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.validation.Errors;

/** What the edit screen sends. */
public class OrderForm {

    private static final int LARGEST = 9_999;

    private String receiver = "";
    private String address = "";
    private String message = "";
    private List<Line> lines = new ArrayList<>();

    /** One line of the order. */
    public static class Line {

        private String id = "";
        private String product = "";
        private @Nullable Integer quantity;

        public String getId() {
            return id;
        }

        public void setId(String id) {
            this.id = id;
        }

        public String getProduct() {
            return product;
        }

        public void setProduct(String product) {
            this.product = product;
        }

        public @Nullable Integer getQuantity() {
            return quantity;
        }

        public void setQuantity(@Nullable Integer quantity) {
            this.quantity = quantity;
        }
    }

    static OrderForm of(Order order) {
        OrderForm form = new OrderForm();
        form.receiver = order.getShippingInfo().receiver();
        form.address = order.getShippingInfo().address();
        form.message = order.getShippingInfo().message();
        for (OrderLine each : order.getLines()) {
            Line line = new Line();
            line.id = each.getId();
            line.product = each.getProduct();
            line.quantity = each.getQuantity();
            form.lines.add(line);
        }
        return form;
    }

    void check(Errors errors) {
        ShippingInfo typed = shippingInfo();
        required(errors, "receiver", typed.receiver(), ShippingInfo.LONGEST_RECEIVER);
        required(errors, "address", typed.address(), ShippingInfo.LONGEST_ADDRESS);
        if (typed.message().length() > ShippingInfo.LONGEST_MESSAGE) {
            errors.rejectValue("message", "form.long", new Object[] {ShippingInfo.LONGEST_MESSAGE}, null);
        }
        for (int i = 0; i < lines.size(); i++) {
            Integer quantity = lines.get(i).quantity;
            String field = "lines[" + i + "].quantity";
            if (!errors.hasFieldErrors(field) && (quantity == null || quantity < 1 || quantity > LARGEST)) {
                errors.rejectValue(field, "form.quantity", new Object[] {LARGEST}, null);
            }
        }
    }

    private static void required(Errors errors, String field, String value, int longest) {
        if (value.isEmpty()) {
            errors.rejectValue(field, "form.missing");
        } else if (value.length() > longest) {
            errors.rejectValue(field, "form.long", new Object[] {longest}, null);
        }
    }

    private ShippingInfo shippingInfo() {
        return ShippingInfo.typed(receiver, address, message);
    }

    void applyTo(Order order, String by) {
        order.changeShippingInfo(shippingInfo(), by);
        for (Line line : lines) {
            Integer quantity = line.quantity;
            for (OrderLine each : order.getLines()) {
                if (quantity != null && each.getId().equals(line.id)) {
                    each.changeQuantity(quantity);
                }
            }
        }
    }

    public String getReceiver() {
        return receiver;
    }

    public void setReceiver(String receiver) {
        this.receiver = receiver;
    }

    public String getAddress() {
        return address;
    }

    public void setAddress(String address) {
        this.address = address;
    }

    public String getMessage() {
        return message;
    }

    public void setMessage(String message) {
        this.message = message;
    }

    public List<Line> getLines() {
        return lines;
    }

    public void setLines(List<Line> lines) {
        this.lines = lines;
    }
}
