// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa.shop;

import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.Inheritance;
import jakarta.persistence.InheritanceType;
import jakarta.persistence.Version;

/** An aggregate that has kinds, each with a table of its own, and an id that the database makes. */
@Entity
@Inheritance(strategy = InheritanceType.JOINED)
public class Parcel {

    @Id
    @GeneratedValue(strategy = GenerationType.IDENTITY)
    private Long id;

    @Version
    private short version;

    private int weight;

    public Long id() {
        return id;
    }

    public short version() {
        return version;
    }

    public void weigh(int grams) {
        weight = grams;
    }

    public int weight() {
        return weight;
    }
}
