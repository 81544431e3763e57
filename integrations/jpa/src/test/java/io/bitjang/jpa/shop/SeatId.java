// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa.shop;

import jakarta.persistence.Column;
import jakarta.persistence.Embeddable;

/** An id of two columns. */
@Embeddable
public record SeatId(
        @Column(name = "seat_row") String row,
        @Column(name = "seat_number") int number) {}
