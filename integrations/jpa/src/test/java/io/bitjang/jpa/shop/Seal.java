// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa.shop;

import io.bitjang.jpa.PartOf;
import jakarta.persistence.EmbeddedId;
import jakarta.persistence.Entity;
import jakarta.persistence.MapsId;
import jakarta.persistence.OneToOne;

/** The one part of its kind, which has the id of its root. */
@Entity
public class Seal {

    @EmbeddedId
    private ContractId id;

    @OneToOne
    @MapsId
    @PartOf
    private Contract contract;

    private String keeper;

    protected Seal() {}

    Seal(Contract contract, String keeper) {
        this.contract = contract;
        this.keeper = keeper;
    }

    public void give(String newKeeper) {
        keeper = newKeeper;
    }
}
