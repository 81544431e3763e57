// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.orders;

import jakarta.persistence.CascadeType;
import jakarta.persistence.Embedded;
import jakarta.persistence.EmbeddedId;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.FetchType;
import jakarta.persistence.OneToMany;
import jakarta.persistence.OrderBy;
import jakarta.persistence.Table;
import jakarta.persistence.Version;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An order: the aggregate that all pages are about. */
@Entity
@Table(name = "shop_order")
public class Order {

    @EmbeddedId
    private OrderNo number;

    @Version
    private long version;

    private String scene;

    @Enumerated(EnumType.STRING)
    private OrderState state = OrderState.PREPARING;

    private String orderer;

    @Embedded
    private ShippingInfo shippingInfo;

    private @Nullable String label;
    private @Nullable String changedBy;

    @OneToMany(mappedBy = "order", cascade = CascadeType.ALL, fetch = FetchType.EAGER)
    @OrderBy("id")
    private List<OrderLine> lines = new ArrayList<>();

    /** For JPA. */
    @SuppressWarnings("NullAway.Init")
    protected Order() {}

    /** A new one. */
    public Order(OrderNo number, Scene scene, String orderer, ShippingInfo shippingInfo) {
        this.number = number;
        this.scene = scene.name();
        this.orderer = orderer;
        this.shippingInfo = shippingInfo;
    }

    /** Adds a line. */
    public Order with(String product, int quantity) {
        lines.add(new OrderLine(this, number + "-" + (lines.size() + 1), product, quantity));
        return this;
    }

    public OrderNo getNumber() {
        return number;
    }

    /** Whether it belongs to this page; those that belong to none are on all. */
    public boolean isOf(Scene wanted) {
        return scene.equals(wanted.name()) || scene.equals(Scene.NONE.name());
    }

    public long getVersion() {
        return version;
    }

    public OrderState getState() {
        return state;
    }

    public String getOrderer() {
        return orderer;
    }

    public ShippingInfo getShippingInfo() {
        return shippingInfo;
    }

    /** The address on the parcel; null while there is no parcel. */
    public @Nullable String getLabel() {
        return label;
    }

    /** Who changed it last. */
    public @Nullable String getChangedBy() {
        return changedBy;
    }

    public List<OrderLine> getLines() {
        return lines;
    }

    /** Sends it elsewhere. */
    public void changeShippingInfo(ShippingInfo wanted, String by) {
        if (state == OrderState.SHIPPED) {
            throw new AlreadyShippedException(number);
        }
        shippingInfo = wanted;
        changedBy = by;
    }

    /** Sends it on its way. */
    public void startShipping(String by) {
        if (state == OrderState.SHIPPED) {
            throw new AlreadyShippedException(number);
        }
        state = OrderState.SHIPPED;
        label = shippingInfo.address();
        changedBy = by;
    }

    /** The parcel comes back, for one who wants to try again. */
    public void takeBack(String by) {
        state = OrderState.PREPARING;
        label = null;
        changedBy = by;
    }
}
