// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa.shop;

import jakarta.persistence.EmbeddedId;
import jakarta.persistence.Entity;
import jakarta.persistence.Version;
import java.time.Instant;

/** An aggregate with an id of two columns and a time as its version. */
@Entity
public class Seat {

    @EmbeddedId
    private SeatId id;

    @Version
    private Instant version;

    private String guest;

    protected Seat() {}

    public Seat(SeatId id) {
        this.id = id;
    }

    public SeatId id() {
        return id;
    }

    public Instant version() {
        return version;
    }

    public void give(String to) {
        guest = to;
    }

    public String guest() {
        return guest;
    }
}
