// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.race;

import jakarta.persistence.CascadeType;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.Id;
import jakarta.persistence.OneToMany;
import jakarta.persistence.Table;
import jakarta.persistence.Version;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An order as plain JPA has it: with a version, but nothing says that the lines are part of it. */
@Entity
@Table(name = "shop_order")
class PlainOrder {

    @Id
    private String number = "";

    @Version
    private long version;

    private String state = "";
    private @Nullable String label;

    @OneToMany(mappedBy = "order", cascade = CascadeType.ALL, fetch = FetchType.EAGER)
    private List<PlainOrderLine> lines = new ArrayList<>();

    long version() {
        return version;
    }

    PlainOrderLine line() {
        return lines.get(0);
    }

    void ship(String onTheLabel) {
        state = "SHIPPED";
        label = onTheLabel;
    }

    boolean isShipped() {
        return state.equals("SHIPPED");
    }
}
